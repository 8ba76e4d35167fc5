package ort

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

// theLibrary returns the path of a usable library, and skips the test if there is none.
func theLibrary(t *testing.T) string {
	t.Helper()
	return open(t, Source{Bytes: adder()}).Library().Path
}

// link makes a link to a library in a new folder, and returns the folder.
func link(t *testing.T, lib string, elem ...string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.Join(elem...))
	reftest.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(lib, path)))
	return dir
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	return reftest.Must(os.ReadFile(path))(t)
}

// put copies or writes a file into a new folder.
func put(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	reftest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	reftest.OK(t, os.WriteFile(path, data, 0o755))
	return path
}

// cachedFolder is the cache's folder of the library that is fetched for this system.
const cachedFolder = "onnxruntime-" + library.Version + "-" + runtime.GOOS + "-" + runtime.GOARCH

func TestNamedLibrary(t *testing.T) {
	lib := theLibrary(t)
	tests := []struct {
		name, path, env, source string
	}{
		{"file", lib, "", "runtime"},
		{"folder", filepath.Dir(lib), "", "runtime"},
		{"folder above", link(t, lib, "lib", filepath.Base(lib)), "", "runtime"},
		{"variable", "", "MDMGEN_RUNTIME=" + lib, "MDMGEN_RUNTIME"},
		{"flag before variable", lib, "MDMGEN_RUNTIME=/nonexistent", "runtime"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := child(t, childTask{Library: tt.path, Offline: true}, tt.env)
			if r.Error != "" || r.Library.Source != tt.source || !library.Same(r.Library.Path, lib) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestNamedLibraryRefused(t *testing.T) {
	lib := theLibrary(t)
	other, _ := exec.LookPath("ls")
	tests := []struct {
		name, path, want string
	}{
		{"nowhere", "/nonexistent/lib.so", "no such file or folder"},
		{"empty folder", t.TempDir(), "no ONNX Runtime library is in that folder"},
		{"text", put(t, "lib.so", []byte("#!/bin/sh\necho no library\n")), "it cannot be loaded"},
		{"empty file", put(t, "lib.so", nil), "it cannot be loaded"},
		{"folder with text", filepath.Dir(put(t, filepath.Base(lib), []byte("text, and more of it"))), filepath.Base(lib) + ": it cannot be loaded"},
		{"broken", put(t, "lib.so", []byte("\x7fELF\x02\x01\x01\x00 and then nonsense")), "it cannot be loaded"},
	}
	if other != "" && runtime.GOOS == "linux" {
		tests = append(tests, struct{ name, path, want string }{"program", other, "it cannot be loaded"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := child(t, childTask{Library: tt.path})
			if !r.Missing || !strings.Contains(r.Error, tt.want) || !strings.Contains(r.Error, tt.path) || !strings.Contains(r.Error, library.MinVersion) {
				t.Errorf("got %+v, want %q in the error", r, tt.want)
			}
		})
	}
}

// TestOldLibrary uses a library with the name of an old version: --runtime rejects it with both
// versions, the search skips it.
func TestOldLibrary(t *testing.T) {
	lib := theLibrary(t)
	if runtime.GOOS != "linux" {
		t.Skip("names of libraries have no version")
	}
	old := put(t, "libonnxruntime.so.1.17.1", read(t, lib))
	r := child(t, childTask{Library: old})
	if want := "it is version 1.17.1, but " + library.MinVersion + " or newer is needed"; !r.Missing || !strings.Contains(r.Error, want) {
		t.Errorf("got %+v, want %q in the error", r, want)
	}
	r = child(t, childTask{Offline: true},
		"LD_LIBRARY_PATH="+filepath.Dir(old), "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir())
	if r.Missing && !strings.Contains(r.Error, old+": it is version 1.17.1") {
		t.Errorf("the search does not tell the old library: %+v", r)
	}
	r = child(t, childTask{Offline: true},
		"LD_LIBRARY_PATH="+filepath.Dir(old)+string(filepath.ListSeparator)+filepath.Dir(lib), "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir())
	if r.Error != "" || r.Library.Source != "system" || !library.Same(r.Library.Path, lib) {
		t.Errorf("the search does not pass the old library: %+v", r)
	}
}

// TestSearchOrder puts a library in each place and removes the places one by one.
func TestSearchOrder(t *testing.T) {
	lib := theLibrary(t)
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	cache := "MDMGEN_CACHE=" + link(t, lib, "runtime", cachedFolder, filepath.Base(lib))
	noCache := "MDMGEN_CACHE=" + t.TempDir()
	venv := "VIRTUAL_ENV=" + link(t, lib, "lib", "python3.12", "site-packages", "onnxruntime", "capi", filepath.Base(lib))
	system := "LD_LIBRARY_PATH=" + link(t, lib, "libonnxruntime.so.1")
	noPath := "PATH=" + t.TempDir()
	tests := []struct {
		environ []string
		want    string
	}{
		{[]string{cache, venv, system, noPath}, "cache"},
		{[]string{noCache, venv, system, noPath}, "python package"},
		{[]string{noCache, system, noPath}, "system"},
	}
	if r := child(t, childTask{Offline: true, Diagnose: true}, cache, noPath).Report; len(r.Candidates) > 0 && strings.Contains(r.Candidates[0].Reason, "it is damaged") {
		tests = tests[1:] // It is not a published one.
	}
	for _, tt := range tests {
		r := child(t, childTask{Offline: true}, tt.environ...)
		if r.Error != "" || r.Library.Source != tt.want {
			t.Errorf("%s: got %+v", tt.want, r)
		}
	}
}

// TestPythonPackage queries an interpreter that knows a package.
func TestPythonPackage(t *testing.T) {
	lib := theLibrary(t)
	if runtime.GOOS == "windows" {
		t.Skip("the interpreter of the test is a shell script")
	}
	pkg := link(t, lib, "capi", filepath.Base(lib))
	python := put(t, "python3", []byte("#!/bin/sh\n[ \"$1 $2\" = '-I -c' ] && echo '"+pkg+"'\n"))
	r := child(t, childTask{Offline: true}, "MDMGEN_CACHE="+t.TempDir(), "PATH="+filepath.Dir(python), "LD_LIBRARY_PATH=")
	if r.Error != "" || r.Library.Source != "python package" {
		t.Errorf("got %+v", r)
	}
}

// TestPackageBesideProgram runs a program that a wheel installed into an environment that is not
// activated.
func TestPackageBesideProgram(t *testing.T) {
	lib := theLibrary(t)
	if runtime.GOOS == "windows" {
		t.Skip("an environment has other folders")
	}
	capi := filepath.Join("lib", "python3.12", "site-packages", "onnxruntime", "capi", filepath.Base(lib))
	env, other := link(t, lib, capi), link(t, lib, capi)
	program := filepath.Join(env, "bin", "mdmgen")
	reftest.OK(t, os.Mkdir(filepath.Dir(program), 0o755))
	reftest.OK(t, os.WriteFile(program, read(t, reftest.Must(os.Executable())(t)), 0o755))
	r := child(t, childTask{Offline: true, Program: program}, "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir(), "VIRTUAL_ENV="+other)
	if r.Error != "" || r.Library.Source != "python package" || !strings.HasPrefix(r.Library.Path, env) {
		t.Errorf("got %+v, want a library in %s", r, env)
	}
}

// TestOneLibrary opens with another library while one is in use.
func TestOneLibrary(t *testing.T) {
	lib := theLibrary(t)
	other := put(t, filepath.Base(lib), read(t, lib))
	r := child(t, childTask{Library: lib, Again: other})
	if r.Error != "" || !strings.Contains(r.Second, "a process can use one library") {
		t.Errorf("got %+v", r)
	}
}

func TestDiagnose(t *testing.T) {
	lib := theLibrary(t)
	r := child(t, childTask{Diagnose: true, Library: lib, Threads: 1}).Report
	if r == nil || r.Library != lib || r.Source != "runtime" || r.Version == "" || r.Threads != 1 ||
		len(r.Candidates) != 1 || r.Candidates[0].Reason != "" || !slices.Contains(r.Providers, "cpu") || len(r.Problems) != 0 {
		t.Errorf("a good library: %+v", r)
	}
	text := put(t, "lib.so", []byte("no library"))
	r = child(t, childTask{Diagnose: true, Library: text}).Report
	if r == nil || r.Library != "" || len(r.Problems) != 1 || len(r.Candidates) != 1 || r.Candidates[0].Reason == "" {
		t.Errorf("a bad library: %+v", r)
	}
	cache := t.TempDir()
	reftest.OK(t, os.WriteFile(filepath.Join(cache, "something"), make([]byte, 1000), 0o644))
	r = child(t, childTask{Diagnose: true}, "MDMGEN_OFFLINE=1", "MDMGEN_CACHE="+cache, "PATH="+t.TempDir(), "LD_LIBRARY_PATH=").Report
	if r == nil || !r.Offline || r.CacheDir != cache || r.CacheBytes != 1000 {
		t.Errorf("the cache: %+v", r)
	}
	if r.Library == "" && (len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "forbidden")) {
		t.Errorf("offline: %+v", r)
	}
	if (library.Library{Path: lib}).CheckCUDA() != nil {
		r = child(t, childTask{Diagnose: true, Library: lib, Device: "cuda"}).Report
		if r.Usable || len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "it lacks CUDA: "+providerFile("cuda")+" is missing next to it") || !strings.Contains(r.Problems[0], "library.Install fetches a build") {
			t.Errorf("cuda: %+v", r)
		}
	}
}

// TestDamagedOffline puts a real library with one changed byte into the cache: if fetching is
// forbidden, it is rejected.
func TestDamagedOffline(t *testing.T) {
	lib := theLibrary(t)
	data := read(t, lib)
	data[len(data)-1] ^= 1
	cache := t.TempDir()
	path := filepath.Join(cache, "runtime", cachedFolder, filepath.Base(lib))
	reftest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	reftest.OK(t, os.WriteFile(path, data, 0o755))
	r := child(t, childTask{Offline: true}, "MDMGEN_CACHE="+cache)
	if !r.Missing || !strings.Contains(r.Error, path+": it is damaged: its SHA-256 is ") || !strings.Contains(r.Error, "forbidden") {
		t.Errorf("Open: %+v", r)
	}
	d := child(t, childTask{Offline: true, Diagnose: true}, "MDMGEN_CACHE="+cache).Report
	if d.Usable || d.Library != "" || len(d.Problems) != 1 || !strings.Contains(d.Problems[0], "it is damaged") {
		t.Errorf("Diagnose: %+v", d)
	}
}

func TestOffline(t *testing.T) {
	// A machine without any library.
	r := child(t, childTask{}, "MDMGEN_OFFLINE=1", "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir(), "LD_LIBRARY_PATH=")
	if r.Library.Source == "" && (!r.Missing || !strings.Contains(r.Error, "forbidden")) {
		t.Errorf("Open: %+v", r)
	}
}

// TestFetchHoldsNothing checks that while pip runs, other callers can query the library in use,
// open and close.
func TestFetchHoldsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the interpreter of the test is a shell script")
	}
	begun := filepath.Join(t.TempDir(), "begun")
	python := put(t, "python3", []byte("#!/bin/sh\ncase \"$*\" in *find_spec*) exit 0;; esac\n: > '"+begun+"'\nexec /bin/sleep 30\n"))
	t.Setenv("PATH", filepath.Dir(python))
	t.Setenv("MDMGEN_CACHE", t.TempDir())
	t.Setenv("MDMGEN_OFFLINE", "")
	t.Setenv("MDMGEN_RUNTIME", "")
	t.Setenv("LD_LIBRARY_PATH", "")
	if l, _, err := acquire(t.Context(), Config{}, nil, false); err == nil && l.Path != "" {
		reftest.OK(t, release())
		t.Skip("this machine has a library: " + l.Path)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := acquire(ctx, Config{}, nil, true)
		ended <- err
	}()
	for {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("ended without pip: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if !env.TryLock() {
		t.Error("the environment is held while pip runs")
	} else {
		env.Unlock()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
