package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/reftest"
)

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	reftest.OK(t, os.WriteFile(small, []byte("twelve bytes"), 0o600))
	if b, err := plainfile.Read(small, 12); err != nil || string(b) != "twelve bytes" {
		t.Errorf("Read = %q, %v", b, err)
	}
	reftest.Fails(t, reftest.Err(plainfile.Read(small, 11)), "more than 11 bytes", "a file above the limit")
	if _, err := plainfile.Read(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := plainfile.Read(dir, 1); !errors.Is(err, plainfile.ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if _, err := plainfile.Read("/dev/zero", 1); !errors.Is(err, plainfile.ErrNotRegular) {
		t.Errorf("a device: %v", err)
	}
	// A file that reports size 0 but is not empty.
	if b, err := plainfile.Read("/proc/self/status", 1<<20); err != nil || len(b) == 0 {
		t.Errorf("Read of /proc/self/status = %d bytes, %v", len(b), err)
	}
}

func TestInside(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "hub", "snapshots", "0123")
	blobs := filepath.Join(dir, "hub", "blobs")
	for _, d := range []string{model, blobs} {
		reftest.OK(t, os.MkdirAll(d, 0o700))
	}
	for _, f := range []string{filepath.Join(model, "file"), filepath.Join(blobs, "abc"), filepath.Join(dir, "secret")} {
		reftest.OK(t, os.WriteFile(f, []byte("x"), 0o600))
	}
	links := map[string]string{
		"within": "file", "blob": "../../blobs/abc", "out": "../../../secret", "absolute": filepath.Join(dir, "secret"), "chain": "out",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(model, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	for name, want := range map[string]bool{
		"file": true, "within": true, "blob": true, "out": false, "absolute": false, "chain": false, "../../blobs/abc": false, "none": false,
	} {
		if _, err := plainfile.Inside(model, name); (err == nil) != want {
			t.Errorf("Inside(%q): %v, want allowed %t", name, err, want)
		}
	}
	// Hubs have folders within a snapshot.
	sub := filepath.Join(model, "onnx")
	reftest.OK(t, errors.Join(os.Mkdir(sub, 0o700), os.Symlink("../../../blobs/abc", filepath.Join(sub, "blob")), os.Symlink("../../../../secret", filepath.Join(sub, "out"))))
	reftest.Must(plainfile.Inside(sub, "blob"))(t, "a blob from a folder within a snapshot")
	reftest.Fails(t, reftest.Err(plainfile.Inside(sub, "out")), "", "a link out of a folder within a snapshot is followed")
	// As a file system.
	folder := plainfile.Folder(model)
	for name, want := range map[string]bool{"file": true, "blob": true, "onnx/blob": true, "out": false, "absolute": false, "../secret": false, "onnx": false} {
		b, err := plainfile.ReadFS(folder, name, 1)
		if (err == nil) != want || want && string(b) != "x" {
			t.Errorf("ReadFS(%q) = %q, %v, want allowed %t", name, b, err, want)
		}
	}
	if _, err := plainfile.ReadFS(folder, "none", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	reftest.Fails(t, reftest.Err(plainfile.ReadFS(folder, "file", 0)), "more than 0 bytes", "a file above the limit")
	// A folder reached by a link works like the folder itself.
	alias := filepath.Join(dir, "alias")
	reftest.OK(t, os.Symlink(model, alias))
	reftest.Must(plainfile.Inside(alias, "file"))(t, "through a link to the folder")
}
