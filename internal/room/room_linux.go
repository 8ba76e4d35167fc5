package room

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

func memory() (uint64, bool) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	var total uint64
	if _, err := fmt.Sscanf(string(data), "MemTotal: %d kB", &total); err != nil {
		return 0, false
	}
	total <<= 10
	for _, limit := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(limit)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64); err == nil {
			total = min(total, n)
		}
	}
	return total, true
}
