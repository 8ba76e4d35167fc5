package sysinfo

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns the number of bytes of memory that this process can have at most: that of the
// machine, or of the control group that limits it. It returns false if the number is unknown.
func Memory() (uint64, bool) {
	total, ok := field("/proc/meminfo", "MemTotal:")
	for _, limit := range limits {
		if n, limited := number(limit); limited {
			total = min(total, n)
		}
	}
	return total, ok
}

// Free returns the number of bytes of memory that are free, or can be freed. It returns false if
// the number is unknown.
func Free() (uint64, bool) {
	free, ok := field("/proc/meminfo", "MemAvailable:")
	most, _ := Memory()
	return min(free, most), ok
}

// limits lists the files with the memory limit of a control group.
var limits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// field reads a number of kB from a file of /proc, in bytes.
func field(path, name string) (uint64, bool) {
	data, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(data), name)
	var n uint64
	_, err := fmt.Sscanf(rest, "%d kB", &n)
	return n << 10, err == nil
}

// number reads a file that holds one number.
func number(path string) (uint64, bool) {
	data, _ := os.ReadFile(path)
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}
