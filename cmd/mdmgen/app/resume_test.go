package app

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// sums matches the checksums of a journal's lines, which include times.
var sums = regexp.MustCompile(`"sum":"[0-9a-f]*"`)

// TestResume ends runs after and within the lines of their files. The continued run must print what
// an uninterrupted one does, with its seed, and leave the same file, which can be merged.
func TestResume(t *testing.T) {
	all := shardedCommands(t)
	for _, name := range []string{"score overlap", "bound exact", "generate matu"} {
		args := all[name].args
		t.Run(name, func(t *testing.T) {
			if all[name].network {
				needRuntime(t)
			}
			t.Parallel()
			want := timeless(mustRun(t, "", args...))
			keep := filepath.Join(t.TempDir(), "keep.jsonl")
			seeded := append(slices.Clone(args), "--resume", keep)
			at := slices.Index(seeded, "--seed")
			unseeded := slices.Delete(slices.Clone(seeded), at, at+2)
			mustRun(t, "", seeded...)
			whole := readAll(t, keep)
			lines := strings.SplitAfter(whole, "\n") // the last is empty
			if len(lines) < 5 {
				t.Fatalf("%d lines", len(lines))
			}
			for n, line := range lines {
				amid := n > 0 && strings.Contains(lines[n-1], `"piece":`)
				if amid && n%17 > 0 {
					continue
				}
				writeFile(t, keep, strings.Join(lines[:n], "")+line[:len(line)/2])
				if 0 < n && n < len(lines)-1 {
					refused(t, exit.Failure, "with --resume", "merge", keep)
				}
				again := unseeded
				if n == 0 {
					again = seeded // Without a header there is no seed.
				}
				got, want, kept, whole := timeless(mustRun(t, "", again...)), want, readAll(t, keep), whole
				if amid { // A chunk with kept samples has fewer calls.
					got, want, kept, whole = calls.ReplaceAllString(got, ""), calls.ReplaceAllString(want, ""), "", ""
				}
				if got != want {
					t.Errorf("after %d lines:\n%.1000s\nwant\n%.1000s", n, got, want)
				}
				if sums.ReplaceAllString(timeless(kept), "") != sums.ReplaceAllString(timeless(whole), "") {
					t.Errorf("after %d lines: the file is not what it was", n)
				}
			}
			if got := timeless(mustRun(t, "", "merge", keep)); got != want {
				t.Errorf("merged:\n%.1000s\nwant\n%.1000s", got, want)
			}
		})
	}
}
