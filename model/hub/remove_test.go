package hub_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/hub"
)

// TestRemoveLinks checks that Remove deletes nothing behind a link, anywhere in a repository of the
// cache, whether it leads out of the cache or to another repository.
func TestRemoveLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	for _, test := range []struct {
		name, link string
		refused    bool
	}{
		{"the repository", ".", true},
		{"snapshots", "snapshots", true},
		{"blobs", "blobs", true},
		{"refs", "refs", true},
		{"what is not there", ".no_exist", true},
		{"trees", "trees", true},
		{"a snapshot", "snapshots/COMMIT", false},
		{"a folder of a snapshot", "snapshots/COMMIT/onnx", false},
		{"a file of a snapshot", "snapshots/COMMIT/config.json", false},
		{"a blob", "blobs/" + strings.Repeat("a", 64), false},
		{"a folder of blobs", "blobs/nested", false},
		{"a folder of branches", "refs/refs", false},
		{"a snapshot of what is not there", ".no_exist/COMMIT", false},
	} {
		for _, whole := range []bool{true, false} {
			t.Run(test.name, func(t *testing.T) {
				r := model()
				at(t, r)
				c := open(t)
				found := get(t, c, r, hub.Options{})
				commit := found.Name.Revision
				repository := filepath.Join(c.Cache.Dir, "models--test--mdlm")
				path := filepath.Join(repository, strings.ReplaceAll(test.link, "COMMIT", commit))
				// The link replaces the original, and leads to a copy of it with its own files.
				outside := filepath.Join(t.TempDir(), "outside")
				if info, err := os.Lstat(path); err == nil && info.IsDir() {
					reftest.OK(t, os.Rename(path, outside))
				} else {
					os.Remove(path)
				}
				for _, file := range []string{"precious", commit + "/precious", commit + ".json", "main", "1"} {
					if test.name == "snapshots" && file == commit+".json" {
						continue
					}
					write(t, filepath.Join(outside, file))
				}
				before := listing(t, outside)
				reftest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
				reftest.OK(t, os.Symlink(outside, path))
				n := hub.Name{Repo: "test/mdlm"}
				if !whole {
					n.Revision = commit
				}
				_, err := c.Cache.Remove(n)
				if after := listing(t, outside); after != before {
					t.Errorf("removed outside the repository:\n%s\nleft of\n%s", after, before)
				}
				if test.refused && (err == nil || !strings.Contains(err.Error(), "is a link")) {
					t.Errorf("%v", err)
				}
				if _, lerr := os.Lstat(repository); !test.refused && (err != nil || whole && lerr == nil) {
					t.Errorf("%v, %v", err, lerr)
				}
			})
		}
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	reftest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	if _, err := os.Stat(path); err == nil {
		return
	}
	reftest.OK(t, os.WriteFile(path, []byte("precious"), 0o644))
}

// listing lists a folder with everything below it.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	reftest.OK(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		out = append(out, path)
		return err
	}))
	return strings.Join(out, "\n")
}
