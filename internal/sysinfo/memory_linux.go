package sysinfo

import (
	"bytes"
	"os"
	"strconv"
)

// ResetPeak sets the process's peak of resident memory to its present value (proc(5), clear_refs)
// and reports whether it succeeded. Without permission the peak remains that of the process's
// lifetime.
func ResetPeak() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

// PeakMemory returns the peak of resident memory in bytes, 0 if it is unknown.
func PeakMemory() int64 {
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
