package sysinfo_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"mdmgen/internal/sysinfo"
)

// TestSysinfo checks that known values have a plausible size, and that a folder that does not exist
// is on the disk of the folder above it.
func TestSysinfo(t *testing.T) {
	dir := t.TempDir()
	here, known := sysinfo.Disk(dir)
	below, ok := sysinfo.Disk(filepath.Join(dir, "none", "none"))
	if known != ok || known && (here == 0 || below == 0) {
		t.Errorf("%d %t in a folder, %d %t below it", here, known, below, ok)
	}
	memory, ok := sysinfo.Memory()
	if ok && memory < 64<<20 {
		t.Errorf("%d bytes of memory", memory)
	}
	if runtime.GOOS == "linux" && (!known || !ok) {
		t.Errorf("disk known %t, memory known %t", known, ok)
	}
}
