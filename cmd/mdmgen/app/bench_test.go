package app

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestBenchMaxTime checks that --max-time bounds the whole run, that each requested quantity is
// measured at least partly, and that missing measurements are named.
func TestBenchMaxTime(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	args := []string{"bench", "--model", worldFile(t, "xor3-mixed"), "--sampler", "tweedie,tweedie temperature=0.5", "--steps", "4", "-n", "10", "-r", "1000000", "--seed", "1", "--max-time"}
	out := mustRun(t, "", append(args, "200ms")...)
	if took := time.Since(begin); took > time.Minute { // a bound on a hang, not on speed
		t.Errorf("took %v", took)
	}
	if !regexp.MustCompile(`Incomplete: --max-time 200ms ran out\. Missing: repetitions of tweedie [ .=a-z0-9]+ \([0-9]+ of 1000000\), tweedie [ .=a-z0-9]+ \([0-9]+ of 1000000\)\.`).MatchString(out) || !strings.Contains(out, "| repetitions |") {
		t.Errorf("nothing names what is missing:\n%s", out)
	}
	out = mustRun(t, "", append(args, "500ms", "--quality", "error=100000,certificate=100000,nelbo=1", "--format", "json")...)
	for _, want := range []string{`"complete": false`, `"name": "tv"|error \(0 of `, `"name": "tv_certificate"|certificates \(0 of `, `; texts of the sampling error \(`, `; runs of certificates \(`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s:\n%.3000s", want, out)
		}
	}
	if strings.Count(out, `"name": "self_nelbo"`) != 2 && !strings.Contains(out, "; nelbo of ") {
		t.Errorf("a NELBO is neither there nor named:\n%.3000s", out)
	}
	args[4], args[8], args[10] = "tweedie", "1", "1"
	out = mustRun(t, "", append(args, "10m", "--quality", "error=20,certificate=20,nelbo=1", "--format", "json")...)
	if !strings.Contains(out, `"complete": true`) || strings.Contains(out, "Missing") {
		t.Errorf("time enough:\n%.3000s", out)
	}
}
