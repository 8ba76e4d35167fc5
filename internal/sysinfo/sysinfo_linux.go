package sysinfo

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns how many bytes of memory this process could have at most: those of the machine, or
// of the control group that limits it; false where that is unknown.
func Memory() (uint64, bool) {
	total, ok := field("/proc/meminfo", "MemTotal:")
	for _, limit := range limits {
		if n, limited := number(limit[0]); limited {
			total = min(total, n)
		}
	}
	return total, ok
}

// Free returns how many bytes of memory this process could still take, false where that is unknown.
func Free() (uint64, bool) {
	free, ok := field("/proc/meminfo", "MemAvailable:")
	for _, limit := range limits {
		most, limited := number(limit[0])
		if used, known := number(limit[1]); limited && known {
			free = min(free, most-min(used, most))
		}
	}
	return free, ok
}

// Resident returns how many bytes of memory this process has, false where that is unknown.
func Resident() (uint64, bool) { return field("/proc/self/status", "VmRSS:") }

// limits are the files with the memory that a control group may have, and that it has.
var limits = [][2]string{
	{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
	{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
}

// field reads a number of kB from a file of /proc, in bytes.
func field(path, name string) (uint64, bool) {
	data, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(data), name)
	var n uint64
	_, err := fmt.Sscanf(rest, "%d kB", &n)
	return n << 10, err == nil
}

// number reads a file that holds one.
func number(path string) (uint64, bool) {
	data, _ := os.ReadFile(path)
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}
