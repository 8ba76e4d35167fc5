package app

import (
	"sync"
	"testing"

	"mdmgen/internal/exit"
)

// TestParallelRuns runs command lines concurrently, for the race detector.
func TestParallelRuns(t *testing.T) {
	t.Setenv("MDMGEN_MODEL", worldFile(t, "xor3-mixed"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, c := range []struct {
				code int
				args []string
			}{
				{exit.OK, []string{"generate", "--format", "ids"}}, {exit.OK, []string{"generate", "--help"}}, {exit.OK, []string{"--help"}}, {exit.OK, []string{"man"}},
				{exit.Usage, []string{"samplers", "--nope"}}, {exit.Usage, []string{"score", "--draws", "0"}},
			} {
				if _, stderr, code := runCommand(t, "", c.args...); code != c.code {
					t.Errorf("%v: status %d: %s", c.args, code, stderr)
				}
			}
		})
	}
	all.Wait()
}
