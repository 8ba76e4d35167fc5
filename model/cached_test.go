package model

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

// TestCachedConversion converts one checkpoint into one cache from several goroutines together,
// over the leftovers of a killed process: one converts, all get a whole model, and nothing is left
// over.
func TestCachedConversion(t *testing.T) {
	reftest.Long(t)
	root := t.TempDir()
	t.Setenv("MDMGEN_CACHE", root)
	dir := reftest.Builtin(t)
	convert := func(d graph.Dtype) (string, string) {
		c, err := checkpoint.Open(dir, "")
		if err != nil {
			t.Error(err)
			return "", ""
		}
		defer c.Close()
		f, err := c.Facts(t.Context())
		if err != nil {
			t.Error(err)
			return "", ""
		}
		var said string
		path, err := cached(context.Background(), c, graph.Options{Facts: &f, Dtype: d}, ort.Config{Search: library.Search{Log: func(line string) { said = line }}})
		if err != nil {
			t.Error(err)
		}
		return path, said
	}
	first, _ := convert("")
	if four, said := convert(graph.Int4); four == first || !strings.Contains(said, "to int4 once") {
		t.Errorf("as int4 it is in %s, beside %s: %q", four, first, said)
	} else if again, said := convert(graph.Int4); again != four || said != "" {
		t.Errorf("as int4 it is converted again, into %s: %q", again, said)
	} else if err := os.RemoveAll(filepath.Dir(four)); err != nil {
		t.Fatal(err)
	}
	reftest.OK(t, os.Remove(first))
	reftest.OK(t, os.MkdirAll(filepath.Dir(first)+".partial-0123456789abcdef", 0o755))
	var wait sync.WaitGroup
	var mu sync.Mutex
	converted := 0
	for range 4 {
		wait.Go(func() {
			path, said := convert("")
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(said, "converting") {
				converted++
			}
		})
	}
	wait.Wait()
	if converted != 1 {
		t.Errorf("%d of 4 converted, want 1", converted)
	}
	entries, err := os.ReadDir(filepath.Join(root, "converted"))
	if err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %v, %v: want the model alone", entries, err)
	}
}
