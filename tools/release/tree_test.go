package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"testing/fstest"
	"time"

	"mdmgen/internal/reftest"
)

// TestTree packs the same files with other times, other modes and in another order. The archives
// must be identical, and a program in bin executable.
func TestTree(t *testing.T) {
	t.Parallel()
	date := time.Unix(1700000000, 0)
	names := []string{"bin/mdmgen", "lib/a.so", "lib/try.sh"}
	pack := func(order []int, mode os.FileMode) (archives [][]byte) {
		dir, out := t.TempDir(), t.TempDir()
		at := tree{fstest.MapFS{}, date}
		for _, i := range order {
			path := filepath.Join(dir, names[i])
			reftest.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(names[i]), mode)))
			if n := at.add("top/"+names[i][:3], filepath.Dir(path), filepath.Base(path)+"$"); n != 1 {
				t.Fatalf("%s: %d files", names[i], n)
			}
		}
		tarball, zipped := filepath.Join(out, "a.tar.gz"), filepath.Join(out, "a.zip")
		at.tar(tarball)
		at.zip(zipped)
		for _, path := range []string{tarball, zipped} {
			archives = append(archives, reftest.Must(os.ReadFile(path))(t))
		}
		return archives
	}
	one, two := pack([]int{0, 1, 2}, 0o600), pack([]int{2, 0, 1}, 0o644)
	for i := range one {
		if !bytes.Equal(one[i], two[i]) {
			t.Errorf("archive %d differs", i)
		}
	}
	modes := map[string]int64{"top/bin/": 0o755, "top/bin/mdmgen": 0o755, "top/lib/a.so": 0o644, "top/lib/try.sh": 0o755}
	for r := tar.NewReader(reftest.Must(gzip.NewReader(bytes.NewReader(one[0])))(t)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		reftest.OK(t, err)
		if want, ok := modes[h.Name]; ok && (h.Mode&0o777 != want || !h.ModTime.Equal(date) || h.Uid != 0) {
			t.Errorf("%s: mode %o, %v, user %d", h.Name, h.Mode, h.ModTime, h.Uid)
		}
		delete(modes, h.Name)
	}
	if len(modes) > 0 {
		t.Errorf("not in the archive: %v", modes)
	}
}

// TestMaterials checks that each module is listed once, as contained in the program.
func TestMaterials(t *testing.T) {
	t.Parallel()
	info := &buildinfo.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Path: "m", Version: "v1"}, Deps: []*debug.Module{{Path: "d", Version: "v2"}}}
	var got struct {
		Packages      []struct{ SPDXID, Name, VersionInfo string }
		Relationships []struct{ SpdxElementId, RelationshipType, RelatedSpdxElement string }
	}
	reftest.OK(t, json.Unmarshal(materials(info, "c", time.Unix(0, 0), "name"), &got))
	if n := len(got.Packages); n != 4 || len(got.Relationships) != n || got.Packages[3].Name != "d" || got.Packages[3].VersionInfo != "v2" {
		t.Fatalf("%+v", got)
	}
	for i, r := range got.Relationships {
		if r.RelatedSpdxElement != got.Packages[i].SPDXID || (r.RelationshipType == "DESCRIBES") != (i == 0) {
			t.Errorf("%+v", r)
		}
	}
}
