package ort

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

// TestNoLeaks opens, runs and closes repeatedly: no native object may remain, and the process must
// not grow. A session of this model owns 1 MiB of weights, so a leaked one would show.
func TestNoLeaks(t *testing.T) {
	const n = 512
	model := linear(n, 0.5)
	x, z := make([]float32, n), make([]float32, n)
	cycle := func() {
		s := open(t, Source{Bytes: model})
		in := []Tensor{{Name: "x", Shape: []int64{1, n}, Float32: x}}
		out := []Tensor{{Name: "z", Shape: []int64{1, n}, Float32: z}}
		for range 3 {
			reftest.OK(t, s.Run(t.Context(), in, out))
		}
		// A failed run and a failed open are part of the cycle.
		reftest.Fails(t, s.Run(t.Context(), nil, out), "", "a run without input worked")
		reftest.Fails(t, reftest.Err(Open(t.Context(), Source{Bytes: model, ExternalDir: "/nonexistent"}, Config{})), "", "a folder that is not there worked")
		reftest.OK(t, s.Close())
	}
	for range 20 {
		cycle()
	}
	if got := live.Load(); got != 0 {
		t.Fatalf("%d native objects are left with no session open", got)
	}
	before, ok := resident()
	begin := time.Now()
	const cycles = 60
	for range cycles {
		cycle()
	}
	t.Logf("%v a cycle", time.Since(begin)/cycles)
	if got := live.Load(); got != 0 {
		t.Errorf("%d native objects are left with no session open", got)
	}
	if !ok {
		t.Skip("the size of the process is not known on this system")
	}
	after, _ := resident()
	t.Logf("resident memory grew by %d KiB in %d cycles", (after-before)/1024, cycles)
	if grown := after - before; grown > cycles<<20/2 {
		t.Errorf("resident memory grew by %d bytes in %d cycles of 1 MiB of weights", grown, cycles)
	}
}

// TestForgotten checks that a session that nobody closes is closed when it is collected.
func TestForgotten(t *testing.T) {
	before := live.Load()
	func() {
		s := reftest.Must(Open(t.Context(), Source{Bytes: linear(2, 0.5)}, Config{}))(t)
		x, z := make([]float32, 2), make([]float32, 2)
		reftest.OK(t, s.Run(t.Context(), []Tensor{{Name: "x", Shape: []int64{1, 2}, Float32: x}}, []Tensor{{Name: "z", Shape: []int64{1, 2}, Float32: z}}))
	}()
	for begin := time.Now(); live.Load() != before; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("%d native objects are left", live.Load()-before)
		}
	}
}

// resident returns the process's resident memory in bytes.
func resident() (int64, bool) {
	runtime.GC()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			return kib * 1024, err == nil
		}
	}
	return 0, false
}
