package app

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestGenerateResume ends a run after and within every chunk. The samples of the continued run must
// be those of an uninterrupted one, with its seed.
func TestGenerateResume(t *testing.T) {
	t.Parallel()
	args := []string{"generate", "-n", "100", "--model", worldFile(t, "xor3-mixed"), "--batch", "2", "--seed", "5", "--json"}
	want := timeless(mustRun(t, "", args...))
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	mustRun(t, "", append(slices.Clone(args), "--resume", keep)...)
	whole := readAll(t, keep)
	lines := strings.SplitAfter(whole, "\n")
	if len(lines) != 107 { // a header, 100 samples, 4 chunks, a footer, and nothing
		t.Fatalf("%d lines", len(lines))
	}
	unseeded := append(slices.Clone(args[:7]), "--json", "--resume", keep)
	for n := range lines {
		whole := n == 0 || !strings.Contains(lines[n-1], `"piece":`)
		if !whole && n%5 > 0 {
			continue
		}
		writeFile(t, keep, strings.Join(lines[:n], "")+lines[n][:len(lines[n])/2])
		line := unseeded
		if n == 0 {
			line = append(slices.Clone(args), "--resume", keep) // Without a header there is no seed.
		}
		got, want := timeless(mustRun(t, "", line...)), want
		if !whole {
			got, want = calls.ReplaceAllString(got, ""), calls.ReplaceAllString(want, "")
		}
		if got != want {
			t.Errorf("after %d lines:\n%.1000s\nwant\n%.1000s", n, got, want)
		}
	}
	if got := timeless(mustRun(t, "", "merge", keep)); got != want {
		t.Errorf("merged:\n%.1000s\nwant\n%.1000s", got, want)
	}
	ids := mustRun(t, "", "merge", keep, "--format", "ids")
	if plain := mustRun(t, "", append(slices.Clone(args[:9]), "--format", "ids")...); ids != plain {
		t.Errorf("as ids:\n%.300s\nwant\n%.300s", ids, plain)
	}
	out := filepath.Join(t.TempDir(), "out")
	mustRun(t, "", "merge", keep, "--format", "ids", "-o", out)
	if readAll(t, out) != ids {
		t.Error("-o has another result than standard output")
	}
	other := append(slices.Clone(args), "--resume", keep)
	other[6] = "4"
	refused(t, exit.Usage, "other values of batch", other...)
}
