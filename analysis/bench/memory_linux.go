package bench

import (
	"bytes"
	"os"
	"strconv"
)

// resetPeak sets the process's peak of resident memory to what it is now (proc(5),
// clear_refs), and reports whether it could. Where that is not allowed the peak stays that of the
// process's life.
func resetPeak() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

// peak reads the peak of resident memory in bytes, 0 where it is not known.
func peak() int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(data, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10
}
