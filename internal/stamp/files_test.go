package stamp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp"
)

// TestDigest checks that work is done once for files that do not change, and again if any does, for
// another kind and with Full.
func TestDigest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testDigest)
}

func testDigest(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, p := range []string{a, b} {
		reftest.OK(t, os.WriteFile(p, []byte("x"), 0o600))
	}
	s := stamp.Store{Dir: filepath.Join(dir, "stamps")}
	done := 0
	get := func(s stamp.Store, kind string, paths ...string) {
		t.Helper()
		sum, err := s.Digest(t.Context(), kind, paths, func(context.Context) (string, error) {
			done++
			return strings.Repeat("ab", 32), nil
		})
		if err != nil || sum != strings.Repeat("ab", 32) {
			t.Fatalf("%q, %v", sum, err)
		}
	}
	get(s, "k", a, b)
	get(s, "k", a, b) // the files are too young to be cached
	if done != 2 {
		t.Fatalf("young files: done %d times, want 2", done)
	}
	age(t, b)
	for i, step := range []struct {
		store stamp.Store
		kind  string
		paths []string
		want  int
	}{
		{s, "k", []string{a, b}, 3}, {s, "k", []string{a, b}, 3}, {s, "k", []string{b, a}, 4}, {s, "other", []string{a, b}, 5},
		{stamp.Store{Dir: s.Dir, Full: true}, "k", []string{a, b}, 6}, {stamp.Store{}, "k", []string{a, b}, 7}, {s, "k", []string{a, b}, 7},
	} {
		if get(step.store, step.kind, step.paths...); done != step.want {
			t.Errorf("step %d: done %d times, want %d", i, done, step.want)
		}
	}
	reftest.OK(t, os.WriteFile(b, []byte("y"), 0o600))
	if get(s, "k", a, b); done != 8 {
		t.Errorf("a changed file: done %d times, want 8", done)
	}
	_, err := s.Digest(t.Context(), "k", []string{a, filepath.Join(dir, "none")}, nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	_, err = s.Digest(t.Context(), "new", []string{a}, func(context.Context) (string, error) {
		return "", errors.Join(os.WriteFile(a, []byte("changed"), 0o600), nil)
	})
	reftest.Fails(t, err, "changed while it is read", "a file that is changed meanwhile")
}
