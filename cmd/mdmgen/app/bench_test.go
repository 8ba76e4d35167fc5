package app

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/exit"
)

// TestBenchMaxTime bounds the whole call, measures something of all that is asked for, and names
// what is missing.
func TestBenchMaxTime(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	args := []string{"bench", "--model", worldFile(t, "xor3-mixed"), "--sampler", "tweedie,tweedie temperature=0.5", "--steps", "4", "-n", "10", "-r", "1000000", "--seed", "1", "--max-time"}
	out := mustRun(t, "", append(args, "200ms")...)
	if took := time.Since(begin); took > time.Minute { // a bound on a hang, not on speed
		t.Errorf("took %v", took)
	}
	if !regexp.MustCompile(`Incomplete: --max-time 200ms was over\. Missing: repetitions of tweedie [ .=a-z0-9]+ \([0-9]+ of 1000000\), tweedie [ .=a-z0-9]+ \([0-9]+ of 1000000\)\.`).MatchString(out) || !strings.Contains(out, "| repetitions |") {
		t.Errorf("nothing names what is missing:\n%s", out)
	}
	out = mustRun(t, "", append(args, "3s", "--quality", "error=100000,certificate=100000,nelbo=1", "--format", "json")...)
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

// TestBenchInterrupt: what was done is printed, files stay as they were, and the exit status
// is 130.
func TestBenchInterrupt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "old.html")
	writeFile(t, file, "finished")
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	var out, errs cancelling
	out.cancel = cancel
	code := Run(ctx, []string{"mdmgen", "bench", "--model", worldFile(t, "xor3-mixed"), "-n", "50", "-r", "200000", "--seed", "1", "--format", "jsonl", "--html", file}, strings.NewReader(""), &out, &errs)
	last := out.String()[strings.LastIndexByte(strings.TrimSuffix(out.String(), "\n"), '\n')+1:]
	if code != exit.Interrupt || !strings.Contains(last, `"kind":"report"`) || !strings.Contains(last, `"interrupted":true`) || !strings.Contains(out.String(), `"kind":"repetition"`) {
		t.Errorf("exit status %d, %s: %.300s", code, errs.String(), last)
	}
	names, err := filepath.Glob(file + "*")
	if text, rerr := os.ReadFile(file); string(text) != "finished" || rerr != nil || err != nil || len(names) != 1 {
		t.Errorf("files %v, %v; the old one holds %.100q, %v", names, err, text, rerr)
	}
}

// cancelling ends a context when it is written to for the fifth time.
type cancelling struct {
	strings.Builder
	cancel func()
	writes int
}

func (c *cancelling) Write(b []byte) (int, error) {
	if c.writes++; c.writes == 5 && c.cancel != nil {
		c.cancel()
	}
	return c.Builder.Write(b)
}
