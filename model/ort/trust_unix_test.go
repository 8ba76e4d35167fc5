//go:build unix

package ort

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mdmgen/internal/reftest"
)

// stat is a made-up description of a file.
type stat struct {
	fs.FileInfo
	mode     fs.FileMode
	uid, gid uint32
}

func (s stat) Mode() fs.FileMode { return s.mode }
func (s stat) Sys() any          { return &syscall.Stat_t{Uid: s.uid, Gid: s.gid} }

func TestTrustedEntry(t *testing.T) {
	me, mine := uint32(os.Geteuid()), uint32(os.Getegid())
	const someone, theirs = 54321, 54322
	tests := []struct {
		name  string
		info  stat
		above bool
		want  string
	}{
		{"my file", stat{mode: 0o755, uid: me, gid: mine}, false, ""},
		{"root's file", stat{mode: 0o755}, false, ""},
		{"root's file for root's group", stat{mode: 0o775}, false, ""},
		{"somebody's file", stat{mode: 0o755, uid: someone, gid: mine}, false, "belongs to another user (uid 54321)"},
		{"somebody's folder above", stat{mode: fs.ModeDir | 0o755, uid: someone}, true, "belongs to another user"},
		{"somebody's sticky folder above", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777, uid: someone}, true, "belongs to another user"},
		{"for all", stat{mode: 0o757, uid: me, gid: mine}, false, "others can write to /x: run chmod go-w /x"},
		{"for a group", stat{mode: 0o775, uid: me, gid: theirs}, false, "others can write to /x"},
		{"readable for all", stat{mode: 0o755, uid: me, gid: theirs}, false, ""},
		{"a folder for all above", stat{mode: fs.ModeDir | 0o777}, true, "others can write to /x"},
		{"a sticky folder above", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777}, true, ""},
		{"a sticky folder of libraries", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777}, false, "others can write to /x: copy the library"},
	}
	for _, tt := range tests {
		err := trustedEntry("/x", tt.info, tt.above)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// copyOf copies a library into a new folder "lib".
func copyOf(t *testing.T, lib string) string {
	t.Helper()
	return put(t, filepath.Join("lib", filepath.Base(lib)), read(t, lib))
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	reftest.OK(t, os.Chmod(path, mode))
}

// TestWritableLibrary makes a library, its folder, or one above writable by others: if named, the
// library is rejected with the folder's name; a search skips it.
func TestWritableLibrary(t *testing.T) {
	lib := theLibrary(t)
	for _, which := range []string{"file", "folder", "above", "through a link"} {
		t.Run(which, func(t *testing.T) {
			copied := copyOf(t, lib)
			open, named := copied, copied
			switch which {
			case "folder":
				open = filepath.Dir(copied)
			case "above":
				open = filepath.Dir(filepath.Dir(copied))
			case "through a link":
				named = filepath.Join(t.TempDir(), filepath.Base(copied))
				reftest.OK(t, os.Symlink(copied, named))
			}
			if r := child(t, childTask{Library: named}); r.Error != "" {
				t.Fatalf("before: %+v", r)
			}
			chmod(t, open, 0o777)
			for _, diagnose := range []bool{false, true} {
				r := child(t, childTask{Library: named, Diagnose: diagnose})
				if diagnose {
					r.Missing, r.Error = !r.Report.Usable, strings.Join(r.Report.Problems, ";")
				}
				if want := "others can write to " + open + ": run chmod go-w " + open; !r.Missing || !strings.Contains(r.Error, want) {
					t.Errorf("named, diagnose %t: %+v, want %q", diagnose, r, want)
				}
			}
			rest := string(filepath.ListSeparator) + filepath.Dir(lib)
			r := child(t, childTask{Offline: true}, "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir(),
				"LD_LIBRARY_PATH="+filepath.Dir(named)+rest, "DYLD_LIBRARY_PATH="+filepath.Dir(named)+rest)
			if r.Error != "" || !samePath(r.Library.Path, lib) {
				t.Errorf("a search: %+v", r)
			}
		})
	}
}

// TestWritableBesideExecutable copies the test's own program next to a library, and into the layout
// of a release.
func TestWritableBesideExecutable(t *testing.T) {
	lib := theLibrary(t)
	exe := reftest.Must(os.Executable())(t)
	copied := copyOf(t, lib)
	program := read(t, exe)
	own := filepath.Join(filepath.Dir(copied), "program")
	reftest.OK(t, os.WriteFile(own, program, 0o755))
	environ := []string{"MDMGEN_CACHE=" + t.TempDir(), "PATH=" + t.TempDir(), "LD_LIBRARY_PATH=" + filepath.Dir(lib), "DYLD_LIBRARY_PATH=" + filepath.Dir(lib)}
	task := childTask{Offline: true, Diagnose: true, Program: own}
	if r := child(t, task, environ...).Report; !samePath(r.Library, copied) || r.Source != "beside the executable" {
		t.Errorf("a closed folder: %+v", r)
	}
	bin, release := filepath.Join(t.TempDir(), "bin"), task
	library := filepath.Join(filepath.Dir(bin), "lib", "mdmgen")
	reftest.OK(t, errors.Join(os.Mkdir(bin, 0o755), os.MkdirAll(library, 0o755)))
	library, release.Program = filepath.Join(library, filepath.Base(copied)), filepath.Join(bin, "program")
	reftest.OK(t, errors.Join(os.Rename(own, release.Program), os.WriteFile(library, read(t, copied), 0o644), os.WriteFile(own, program, 0o755)))
	if r := child(t, release, environ...).Report; !samePath(r.Library, library) || r.Source != "beside the executable" {
		t.Errorf("the layout of a release: %+v", r)
	}
	chmod(t, filepath.Dir(copied), 0o777)
	if r := child(t, task, environ...).Report; !samePath(r.Library, lib) || !strings.Contains(r.Candidates[0].Reason, "others can write to") {
		t.Errorf("an open folder: %+v", r)
	}
}

// TestWritableCache checks that nothing is fetched into a folder that everybody can write to.
func TestWritableCache(t *testing.T) {
	cache := fakeMachine(t, map[string]string{"python3": "touch ran"})
	chmod(t, cache, 0o777)
	_, err := fetch(t.Context(), Config{}, nil)
	missing(t, err, "others can write to "+cache, "MDMGEN_CACHE")
	if got := left(t, cache); len(got) != 0 {
		t.Errorf("files were left: %v", got)
	}
}

// TestNoPipeForALibrary checks that a pipe is not opened: that would wait for a writer that never
// comes.
func TestNoPipeForALibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	reftest.Fails(t, reftest.Err(probe(path)), "not a regular file")
	// Advice about permissions would be wrong for a device.
	for _, path := range []string{path, os.DevNull} {
		_, _, err := Config{}.findNamed(t.Context(), path, "--runtime", nil)
		reftest.Fails(t, err, "not a regular file", path)
	}
}
