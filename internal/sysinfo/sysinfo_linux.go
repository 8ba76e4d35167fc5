package sysinfo

import (
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns the number of bytes of memory that this process can have at most: that of the
// machine, or of the control group that limits it. It returns false if the number is unknown.
func Memory() (uint64, bool) {
	total, ok := field("/proc/meminfo", "MemTotal:")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for file := range limits("/sys/fs/cgroup", string(groups)) {
		if n, limited := number(file); limited {
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

// limits yields the files below root that may limit memory: those of the control groups that
// /proc/self/cgroup lists, and of all above them. In a container the list may name groups outside it.
func limits(root, groups string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(groups) {
			_, rest, _ := strings.Cut(line, ":")
			kind, group, _ := strings.Cut(strings.TrimSpace(rest), ":")
			file := "memory.max"
			switch kind {
			case "": // of all controllers
			case "memory":
				file = "memory.limit_in_bytes"
			default:
				continue
			}
			for more := true; more; group = path.Dir(group) {
				if !yield(filepath.Join(root, kind, group, file)) {
					return
				}
				more = len(group) > 1
			}
		}
	}
}

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
