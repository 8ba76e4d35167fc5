package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestConvertAtOnce: of several that write one folder at once one does, and each of the
// others says so in a line.
func TestConvertAtOnce(t *testing.T) {
	for range 10 {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		var wait sync.WaitGroup
		codes := make([]int, 6)
		for i := range codes {
			wait.Go(func() {
				from := filepath.Join("..", "..", "testdata", "reference", "checkpoints", []string{"mdlm", "radd", "sedd"}[i%3])
				var stderr string
				_, stderr, codes[i] = runCommand(t, "", "convert", from, "-o", out)
				if codes[i] != exitOK && (codes[i] == exitInterrupt || strings.Count(stderr, "\n") != 1) {
					t.Errorf("exit status %d, %q", codes[i], stderr)
				}
			})
		}
		wait.Wait()
		written := 0
		for _, code := range codes {
			if code == exitOK {
				written++
			}
		}
		entries, err := os.ReadDir(dir)
		if written != 1 || err != nil || len(entries) != 1 {
			t.Fatalf("exit statuses %v; the folder above holds %v, %v", codes, entries, err)
		}
		mustRun(t, "", "doctor", "--model", out)
	}
}

// TestConvertInterrupted: an interrupt ends it with its own status and leaves nothing.
func TestConvertInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr strings.Builder
	code := run(ctx, []string{"mdmgen", "convert", builtinName, "-o", filepath.Join(dir, "out")}, strings.NewReader(""), &stdout, &stderr)
	if code != exitInterrupt || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("exit status %d, %q, %q", code, stdout.String(), stderr.String())
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}
