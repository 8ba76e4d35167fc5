package app

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestBoundInterrupted: an interrupted report prints what was done, writes no file and
// leaves an old one as it was, and the status is 130.
func TestBoundInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	writeFile(t, page, "old")
	args := []string{"mdmgen", "bound", worldFile(t, "xor3-mixed"), "--json", "--html", page, "--plots", filepath.Join(dir, "pictures")}
	var out, errs strings.Builder
	if code := Run(ctx, args, strings.NewReader(""), &out, &errs); code != exit.Interrupt || errs.String() != "mdmgen: interrupted\n" {
		t.Errorf("status %d, %q", code, errs.String())
	}
	var record struct {
		Interrupted bool
		Lines       []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out.String()), &record); err != nil || !record.Interrupted || len(record.Lines) == 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	if data, err := os.ReadFile(page); err != nil || string(data) != "old" {
		t.Errorf("the old page: %q, %v", data, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// TestBoundResume ends a run after every chunk, and in the middle of one: the run that goes on
// reports what an undisturbed one does, with its seed.
func TestBoundResume(t *testing.T) {
	t.Parallel()
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	r := rand.New(rand.NewPCG(3, 3))
	var all strings.Builder
	for range 70 {
		fmt.Fprintf(&all, `{"ids":[%d,%d,%d]}`+"\n", r.IntN(2), r.IntN(2), r.IntN(2))
	}
	writeFile(t, ids, all.String())
	world := worldFile(t, "xor3-mixed")
	args := []string{"bound", ids, "--model", world, "--sampler", "euler,confidence", "--steps", "2", "--limit", "70", "--reference", "masked:" + world, "--json"}
	seeded := append(args[:len(args):len(args)], "--seed", "3")
	want := timeless(mustRun(t, "", seeded...))
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	mustRun(t, "", append(seeded[:len(seeded):len(seeded)], "--resume", keep)...)
	lines := strings.SplitAfter(readAll(t, keep), "\n")
	if len(lines) != 8 { // a header, 5 chunks, a footer, and nothing
		t.Fatalf("%d lines", len(lines))
	}
	for n := 1; n < len(lines); n++ {
		writeFile(t, keep, strings.Join(lines[:n], "")+lines[n][:len(lines[n])/2])
		if got := timeless(mustRun(t, "", append(args[:len(args):len(args)], "--resume", keep)...)); got != want {
			t.Errorf("after %d lines:\n%.1000s\nwant\n%.1000s", n, got, want)
		}
	}
}
