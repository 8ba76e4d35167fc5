package sysinfo

import (
	"slices"
	"testing"
)

// TestLimits checks the files of both versions of control groups: a group is limited by those above it,
// too, and other controllers of the first version by nothing.
func TestLimits(t *testing.T) {
	got := slices.Collect(limits("/cg", "5:cpu,cpuacct:/fast\n4:memory:/jobs/7\n0::/user/me\n"))
	want := []string{
		"/cg/memory/jobs/7/memory.limit_in_bytes", "/cg/memory/jobs/memory.limit_in_bytes", "/cg/memory/memory.limit_in_bytes",
		"/cg/user/me/memory.max", "/cg/user/memory.max", "/cg/memory.max",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
