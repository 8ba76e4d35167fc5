package ort

import (
	"runtime"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

// TestTooManyThreads requests more threads than CPUs: the session uses all CPUs, logs that once for
// all sessions, and reports the number that it uses.
func TestTooManyThreads(t *testing.T) {
	theLibrary(t)
	cpus := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	defer loggedThreads.Store(loggedThreads.Swap(false))
	var log []string
	for _, tt := range []struct{ asked, want, notices int }{{0, cpus, 0}, {1, 1, 0}, {cpus, cpus, 0}, {cpus + 1, cpus, 1}, {4096, cpus, 1}} {
		s := reftest.Must(Open(t.Context(), Source{Bytes: adder()}, Config{Search: library.Search{Log: func(line string) { log = append(log, line) }}, Threads: tt.asked}))(t)
		if got := s.Threads(); got != tt.want || len(log) != tt.notices {
			t.Errorf("%d threads asked for: %d used, want %d; notices %q", tt.asked, got, tt.want, log)
		}
		reftest.OK(t, s.Close())
	}
	if len(log) == 1 && !strings.Contains(log[0], "threads are asked for") {
		t.Errorf("notice: %q", log[0])
	}
	if got := Diagnose(Config{Search: library.Search{Offline: true}, Threads: 4096}).Threads; got != cpus {
		t.Errorf("doctor says %d threads", got)
	}
}
