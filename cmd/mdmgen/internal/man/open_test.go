//go:build unix

package man

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/reftest"
)

// TestOpen: the pager gets the page in a file, which is gone when it ends.
func TestOpen(t *testing.T) {
	pager := filepath.Join(t.TempDir(), "man")
	reftest.OK(t, os.WriteFile(pager, []byte("#!/bin/sh\necho \"$1\"\ncat \"$1\"\n"), 0o700))
	var out, errs strings.Builder
	s := kit.Streams{Out: &kit.StandardOutput{W: &out}, Err: &errs}
	reftest.OK(t, open(s, pager, ".TH MDMGEN 1\n"))
	path, page, _ := strings.Cut(out.String(), "\n")
	if _, err := os.Stat(path); page != ".TH MDMGEN 1\n" || !os.IsNotExist(err) {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := open(s, filepath.Join(filepath.Dir(pager), "none"), ""); err == nil || !strings.Contains(err.Error(), "--format roff") {
		t.Error(err)
	}
}

// TestLayout: help is as wide as its terminal, at most 100 columns, and 100 elsewhere.
func TestLayout(t *testing.T) {
	text := strings.Repeat("a word and another ", 20)
	for _, l := range []layout{{100, 26}, {72, 26}, {40, 6}, {32, 6}} {
		for line := range strings.Lines(l.hung("--name, -n FILE", text) + l.hung("--a-name-longer-than-others", text)) {
			if n := len(strings.TrimSuffix(line, "\n")); n > l.width {
				t.Errorf("%d columns of %d: %s", n, l.width, line)
			}
		}
	}
	if got := layoutOf(&strings.Builder{}); got != (layout{100, 26}) {
		t.Error(got)
	}
}
