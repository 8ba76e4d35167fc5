//go:build unix

package ort

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

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
			if r.Error != "" || !library.Same(r.Library.Path, lib) {
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
	if r := child(t, task, environ...).Report; !library.Same(r.Library, copied) || r.Source != "beside the executable" {
		t.Errorf("a closed folder: %+v", r)
	}
	bin, release := filepath.Join(t.TempDir(), "bin"), task
	installed := filepath.Join(filepath.Dir(bin), "lib", "mdmgen")
	reftest.OK(t, errors.Join(os.Mkdir(bin, 0o755), os.MkdirAll(installed, 0o755)))
	installed, release.Program = filepath.Join(installed, filepath.Base(copied)), filepath.Join(bin, "program")
	reftest.OK(t, errors.Join(os.Rename(own, release.Program), os.WriteFile(installed, read(t, copied), 0o644), os.WriteFile(own, program, 0o755)))
	if r := child(t, release, environ...).Report; !library.Same(r.Library, installed) || r.Source != "beside the executable" {
		t.Errorf("the layout of a release: %+v", r)
	}
	chmod(t, filepath.Dir(copied), 0o777)
	if r := child(t, task, environ...).Report; !library.Same(r.Library, lib) || !strings.Contains(r.Candidates[0].Reason, "others can write to") {
		t.Errorf("an open folder: %+v", r)
	}
}

// TestPlantedPackages puts packages into the temporary folder and the working folder, as others
// could: the interpreter that looks for a package loads none of them.
func TestPlantedPackages(t *testing.T) {
	lib := theLibrary(t)
	marker := filepath.Join(t.TempDir(), "ran")
	planted := t.TempDir()
	chmod(t, planted, 0o777|fs.ModeSticky)
	code := "open(" + `"` + marker + `"` + ", 'a').write(__name__)\n"
	for _, name := range []string{"onnxruntime", "importlib", "site", "sitecustomize", "usercustomize", "runpy", "pip", "json"} {
		reftest.OK(t, os.Mkdir(filepath.Join(planted, name), 0o755))
		for _, file := range []string{"__init__.py", "__main__.py"} {
			reftest.OK(t, os.WriteFile(filepath.Join(planted, name, file), []byte(code), 0o644))
		}
	}
	capi := filepath.Join(planted, "onnxruntime", "capi")
	reftest.OK(t, os.Mkdir(capi, 0o755))
	reftest.OK(t, os.Symlink(lib, filepath.Join(capi, filepath.Base(lib))))
	r := child(t, childTask{Offline: true, Diagnose: true, In: planted},
		"MDMGEN_CACHE="+t.TempDir(), "TMPDIR="+planted, "PYTHONPATH="+planted, "LD_LIBRARY_PATH=", "DYLD_LIBRARY_PATH=")
	for _, c := range r.Report.Candidates {
		if strings.HasPrefix(c.Path, planted) {
			t.Errorf("a planted package was met: %+v", c)
		}
	}
	reftest.Fails(t, reftest.Err(os.ReadFile(marker)), "", "planted code ran")
}
