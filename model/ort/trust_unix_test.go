//go:build unix

package ort

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stat is what a system says of a file, made up.
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
		{"a sticky folder of libraries", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777}, false, "others can write to /x"},
	}
	for _, tt := range tests {
		err := trustedEntry("/x", tt.info, tt.above)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// copyOf puts a copy of a library into a new folder "lib".
func copyOf(t *testing.T, lib string) string {
	t.Helper()
	data, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	return put(t, filepath.Join("lib", filepath.Base(lib)), data)
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestWritableLibrary opens up a library, its folder, and one above, for others:
// named it is refused with the folder's name, and a search passes it.
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
				if err := os.Symlink(copied, named); err != nil {
					t.Fatal(err)
				}
			}
			if r := child(t, childTask{Config: Config{Library: named}}); r.Error != "" {
				t.Fatalf("before: %+v", r)
			}
			chmod(t, open, 0o777)
			for _, diagnose := range []bool{false, true} {
				r := child(t, childTask{Config: Config{Library: named}, Diagnose: diagnose})
				if diagnose {
					r.Missing, r.Error = !r.Report.Usable, strings.Join(r.Report.Problems, ";")
				}
				if want := "others can write to " + open + ": run chmod go-w " + open; !r.Missing || !strings.Contains(r.Error, want) {
					t.Errorf("named, diagnose %t: %+v, want %q", diagnose, r, want)
				}
			}
			rest := string(filepath.ListSeparator) + filepath.Dir(lib)
			r := child(t, childTask{Config: Config{Offline: true}}, "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir(),
				"LD_LIBRARY_PATH="+filepath.Dir(named)+rest, "DYLD_LIBRARY_PATH="+filepath.Dir(named)+rest)
			if r.Error != "" || !samePath(r.Library.Path, lib) {
				t.Errorf("a search: %+v", r)
			}
		})
	}
}

// TestWritableBesideExecutable copies the test's own program beside a library.
func TestWritableBesideExecutable(t *testing.T) {
	lib := theLibrary(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copied := copyOf(t, lib)
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(filepath.Dir(copied), "program")
	if err := os.WriteFile(own, program, 0o755); err != nil {
		t.Fatal(err)
	}
	environ := []string{"MDMGEN_CACHE=" + t.TempDir(), "PATH=" + t.TempDir(), "LD_LIBRARY_PATH=" + filepath.Dir(lib), "DYLD_LIBRARY_PATH=" + filepath.Dir(lib)}
	task := childTask{Config: Config{Offline: true}, Diagnose: true, Program: own}
	if r := child(t, task, environ...).Report; !samePath(r.Library, copied) || r.Source != "beside the executable" {
		t.Errorf("a closed folder: %+v", r)
	}
	chmod(t, filepath.Dir(copied), 0o777)
	if r := child(t, task, environ...).Report; !samePath(r.Library, lib) || !strings.Contains(r.Candidates[0].Reason, "others can write to") {
		t.Errorf("an open folder: %+v", r)
	}
}

// TestWritableCache refuses to fetch into a folder of everybody's.
func TestWritableCache(t *testing.T) {
	cache := fakeMachine(t, map[string]string{"npm": "touch ran"})
	chmod(t, cache, 0o777)
	_, err := fetch(t.Context(), Config{}, nil)
	if err == nil || !strings.Contains(err.Error(), "others can write to "+cache) || !strings.Contains(err.Error(), "MDMGEN_CACHE") {
		t.Errorf("error is %v", err)
	}
	if got := left(t, cache); len(got) != 0 {
		t.Errorf("files were left: %v", got)
	}
}

// TestPlantedPackages lays packages into the temporary folder and the working
// folder, as others could: the interpreter that is asked for a package loads none
// of them.
func TestPlantedPackages(t *testing.T) {
	if len(pythons()) == 0 {
		t.Skip("there is no python3 to ask")
	}
	lib := theLibrary(t)
	marker := filepath.Join(t.TempDir(), "ran")
	planted := t.TempDir()
	chmod(t, planted, 0o777|fs.ModeSticky)
	code := "open(" + `"` + marker + `"` + ", 'a').write(__name__)\n"
	for _, name := range []string{"onnxruntime", "importlib", "site", "sitecustomize", "usercustomize", "runpy", "pip", "json"} {
		if err := os.Mkdir(filepath.Join(planted, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"__init__.py", "__main__.py"} {
			if err := os.WriteFile(filepath.Join(planted, name, file), []byte(code), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	capi := filepath.Join(planted, "onnxruntime", "capi")
	if err := os.Mkdir(capi, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(lib, filepath.Join(capi, filepath.Base(lib))); err != nil {
		t.Fatal(err)
	}
	r := child(t, childTask{Config: Config{Offline: true}, Diagnose: true, In: planted},
		"MDMGEN_CACHE="+t.TempDir(), "TMPDIR="+planted, "PYTHONPATH="+planted, "LD_LIBRARY_PATH=", "DYLD_LIBRARY_PATH=")
	for _, c := range r.Report.Candidates {
		if strings.HasPrefix(c.Path, planted) {
			t.Errorf("a planted package was met: %+v", c)
		}
	}
	if who, err := os.ReadFile(marker); err == nil {
		t.Errorf("planted code ran: %s", who)
	}
	// The interpreter must have answered: one that cannot run is not asked either.
	for _, python := range pythons() {
		if out, err := helper(t.Context(), quietFolder(), python, "-I", "-c", askPython).CombinedOutput(); err != nil {
			t.Errorf("%s does not run: %v: %s", python, err, out)
		}
	}
}

// TestPlantedSettings lays settings for npm above the folder where it runs.
func TestPlantedSettings(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm")
	}
	planted := t.TempDir()
	own := filepath.Join(planted, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{".npmrc": "registry=http://planted.invalid/\n", "package.json": `{"name":"planted","workspaces":["own"]}`} {
		if err := os.WriteFile(filepath.Join(planted, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := helper(t.Context(), own, npm, npmHere, "config", "get", "registry").Output()
	if err != nil || strings.Contains(string(out), "planted") {
		t.Errorf("npm would ask %s, %v", out, err)
	}
}

// TestUserPackage finds a package among the user's own, which an isolated
// interpreter leaves out.
func TestUserPackage(t *testing.T) {
	if len(pythons()) == 0 {
		t.Skip("there is no python3 to ask")
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	// A script that stands before the interpreter may need the true home.
	python := realPython(t)
	t.Setenv("PATH", filepath.Dir(python))
	t.Setenv("HOME", t.TempDir())
	out, err := helper(t.Context(), quietFolder(), python, "-I", "-c", "import site, sys; print(site.getusersitepackages() if sys.prefix == sys.base_prefix else '')").Output()
	site := strings.TrimSpace(string(out))
	if err != nil || site == "" {
		t.Skip("the interpreter has no packages of the user: ", err)
	}
	if err := os.MkdirAll(filepath.Join(site, "onnxruntime"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "onnxruntime", "__init__.py"), []byte("raise SystemExit('it is imported')"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := pythonFolders(t.Context()); len(got) != 1 || !samePath(filepath.Dir(filepath.Dir(got[0])), site) {
		t.Errorf("folders %v, want one in %s", got, site)
	}
}

// realPython is the interpreter itself, where the first one is a script.
func realPython(t *testing.T) string {
	t.Helper()
	out, err := helper(t.Context(), quietFolder(), pythons()[0], "-I", "-c", "import os, sys; print(os.path.realpath(sys.executable))").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || path == "" {
		t.Skip("the interpreter does not tell where it is: ", err)
	}
	if base := filepath.Base(path); base != "python3" && base != "python" {
		link := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(link, []byte("#!/bin/sh\nexec '"+path+"' \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return link
	}
	return path
}

// TestClients runs pip and npm as the fetch does, as far as their help: they must
// work with what a helper sees.
func TestClients(t *testing.T) {
	b, err := buildFor(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	for _, c := range clients(b) {
		ran := false
		for _, command := range c.commands {
			begin := time.Now()
			out, err := helper(t.Context(), t.TempDir(), append(command, "--help")...).CombinedOutput()
			ran = ran || err == nil
			t.Logf("%s: %v after %v", command[0], complaint(string(out), err), time.Since(begin))
		}
		if !ran {
			t.Errorf("%s does not run", c.name)
		}
	}
}

func TestKeptEnviron(t *testing.T) {
	kept := keptEnviron([]string{"PATH=/bin", "https_proxy=a", "PIP_INDEX_URL=b", "npm_config_registry=c", "NPM_TOKEN=d", "PYENV_VERSION=e",
		"PYTHONPATH=x", "PYTHONSTARTUP=x", "NODE_OPTIONS=x", "LD_PRELOAD=x", "BASH_ENV=x", "DYLD_INSERT_LIBRARIES=x", "SECRET=x"})
	if got, want := strings.Join(kept, " "), "PATH=/bin https_proxy=a PIP_INDEX_URL=b npm_config_registry=c NPM_TOKEN=d PYENV_VERSION=e"; got != want {
		t.Errorf("kept %s", got)
	}
}
