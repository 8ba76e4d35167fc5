package room

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

func memory() (uint64, bool) {
	total, ok := line("/proc/meminfo", "MemTotal:")
	if !ok {
		return 0, false
	}
	for _, limit := range limits {
		if n, ok := number(limit[0]); ok {
			total = min(total, n)
		}
	}
	return total, true
}

// limits are the files that tell how much memory a group of processes may have, and has.
var limits = [][2]string{
	{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
	{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
}

func left() (uint64, bool) {
	free, ok := line("/proc/meminfo", "MemAvailable:")
	if !ok {
		return 0, false
	}
	for _, limit := range limits {
		most, limited := number(limit[0])
		used, known := number(limit[1])
		if limited && known {
			free = min(free, most-min(used, most))
		}
	}
	return free, true
}

func resident() (uint64, bool) { return line("/proc/self/status", "VmRSS:") }

// line reads a number of kB from a file of /proc, in bytes.
func line(path, name string) (uint64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(data), name)
	var n uint64
	if _, err := fmt.Sscanf(rest, "%d kB", &n); err != nil || !ok {
		return 0, false
	}
	return n << 10, true
}

// number reads a file that holds one.
func number(path string) (uint64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}
