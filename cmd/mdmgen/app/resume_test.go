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

// benchTimes matches what times and memory determine in the records of bench.
var benchTimes = regexp.MustCompile(`"(seconds|network_seconds|sampling_seconds|rest_seconds|total_seconds|tokens_per_second|in_step_tokens_per_second)":\{[^}]*\}|"(peak_bytes|started)":[^,}]*`)

// TestBenchResume is TestResume for bench: with the records of an unfinished run it makes those of an
// uninterrupted one. Other settings are refused by name.
func TestBenchResume(t *testing.T) {
	t.Parallel()
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	args := []string{"bench", "--model", worldFile(t, "xor3-mixed"), "--sampler", "tweedie,parallel-fhs temperature=0.5", "--steps", "2", "-n", "3", "-r", "2",
		"--quality", "error=3,certificate=3,text,nelbo=2,audit=3", "--format", "jsonl", "--seed"}
	run := func(args ...string) string { return benchTimes.ReplaceAllString(mustRun(t, "", args...), "") }
	want := run(append(args, "7")...)
	seeded := append(args, "7", "--resume", keep)
	mustRun(t, "", seeded...)
	lines := strings.SplitAfter(readAll(t, keep), "\n")
	if len(lines) < 20 || !strings.Contains(want, `"ids":[[`) || !strings.Contains(want, `"complete":true`) {
		t.Fatalf("%d lines, and the run is %.2000s", len(lines), want)
	}
	for n, line := range lines {
		writeFile(t, keep, strings.Join(lines[:n], "")+line[:len(line)/2])
		if got := run(seeded...); got != want {
			t.Errorf("after %d lines:\n%s\nwant\n%s", n, got, want)
		}
		if now := strings.Count(readAll(t, keep), "\n"); now != len(lines)-1 {
			t.Errorf("after %d lines: %d are kept, want %d", n, now, len(lines)-1)
		}
	}
	for _, c := range [][3]string{{"-n", "4", "sequences"}, {"--steps", "3", "cells.steps"}, {"--seed", "8", "seed"}, {"--quality", "text", "quality.parts"}} {
		other := slices.Clone(seeded)
		other[slices.Index(other, c[0])+1] = c[1]
		refused(t, exit.Usage, c[2], other...)
	}
}
