package ort

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// theLibrary returns the path of a usable library, and skips the test if there is none.
func theLibrary(t *testing.T) string {
	t.Helper()
	return open(t, Source{Bytes: adder()}).Library().Path
}

// here returns the build for this system, and skips the test if there is none.
func here(t *testing.T) build {
	t.Helper()
	b, err := buildFor(runtime.GOOS, runtime.GOARCH, false)
	if err != nil {
		t.Skip(err)
	}
	return b
}

// missing reports a test error if err is not a [MissingError] of one line that contains all texts.
func missing(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !errors.As(err, new(*MissingError)) {
		t.Errorf("%v: nothing is missing", err)
	}
	for _, want := range texts {
		reftest.FailsInLine(t, err, want)
	}
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

// libraryName returns a name that the search would accept on this system.
func libraryName() string {
	return strings.ReplaceAll(libraryPatterns()[len(libraryPatterns())-1], "*", "1.99.0")
}

func TestNamedLibrary(t *testing.T) {
	lib := theLibrary(t)
	tests := []struct {
		name, library, env, source string
	}{
		{"file", lib, "", "--runtime"},
		{"folder", filepath.Dir(lib), "", "--runtime"},
		{"folder above", link(t, lib, "lib", libraryName()), "", "--runtime"},
		{"variable", "", "MDMGEN_RUNTIME=" + lib, "MDMGEN_RUNTIME"},
		{"flag before variable", lib, "MDMGEN_RUNTIME=/nonexistent", "--runtime"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := child(t, childTask{Library: tt.library, Offline: true}, tt.env)
			if r.Error != "" || r.Library.Source != tt.source || !samePath(r.Library.Path, lib) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestNamedLibraryRefused(t *testing.T) {
	other, _ := exec.LookPath("ls")
	tests := []struct {
		name, library, want string
	}{
		{"nowhere", "/nonexistent/lib.so", "no such file or folder"},
		{"empty folder", t.TempDir(), "no ONNX Runtime library is in that folder"},
		{"text", put(t, "lib.so", []byte("#!/bin/sh\necho no library\n")), "it cannot be loaded"},
		{"empty file", put(t, "lib.so", nil), "it cannot be loaded"},
		{"folder with text", filepath.Dir(put(t, libraryName(), []byte("text, and more of it"))), libraryName() + ": it cannot be loaded"},
		{"broken", put(t, "lib.so", []byte("\x7fELF\x02\x01\x01\x00 and then nonsense")), "it cannot be loaded"},
	}
	if other != "" && runtime.GOOS == "linux" {
		tests = append(tests, struct{ name, library, want string }{"program", other, "it cannot be loaded"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := child(t, childTask{Library: tt.library})
			if !r.Missing || !strings.Contains(r.Error, tt.want) || !strings.Contains(r.Error, tt.library) || !strings.Contains(r.Error, MinVersion) {
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
	if want := "it is version 1.17.1, but " + MinVersion + " or newer is needed"; !r.Missing || !strings.Contains(r.Error, want) {
		t.Errorf("got %+v, want %q in the error", r, want)
	}
	r = child(t, childTask{Offline: true},
		"LD_LIBRARY_PATH="+filepath.Dir(old), "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir())
	if r.Missing && !strings.Contains(r.Error, old+": it is version 1.17.1") {
		t.Errorf("the search does not tell the old library: %+v", r)
	}
	r = child(t, childTask{Offline: true},
		"LD_LIBRARY_PATH="+filepath.Dir(old)+string(filepath.ListSeparator)+filepath.Dir(lib), "MDMGEN_CACHE="+t.TempDir(), "PATH="+t.TempDir())
	if r.Error != "" || r.Library.Source != "system" || !samePath(r.Library.Path, lib) {
		t.Errorf("the search does not pass the old library: %+v", r)
	}
}

// TestSearchOrder puts a library in each place and removes the places one by one.
func TestSearchOrder(t *testing.T) {
	lib := theLibrary(t)
	b := here(t)
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	cache := "MDMGEN_CACHE=" + link(t, lib, "runtime", b.folder(), filepath.Base(b.library))
	noCache := "MDMGEN_CACHE=" + t.TempDir()
	venv := "VIRTUAL_ENV=" + link(t, lib, "lib", "python3.12", "site-packages", "onnxruntime", "capi", filepath.Base(b.library))
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
	if _, err := publishedSum(t.Context(), lib, Stamps(false)); err != nil {
		tests = tests[1:] // such a library in the cache is not used
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

func TestDeviceRefused(t *testing.T) {
	lib := theLibrary(t)
	if missingCUDA(Library{Path: lib}) == nil {
		t.Skip("the library has CUDA")
	}
	for _, device := range []string{"cuda", "cuda:1"} {
		for _, named := range []string{lib, ""} {
			// The cache has nothing but this library: on some machines a CUDA build is next to it.
			r := child(t, childTask{Library: named, Device: device}, "MDMGEN_CACHE="+link(t, lib, "runtime", filepath.Base(filepath.Dir(lib)), filepath.Base(lib)))
			if !r.Missing || !strings.HasPrefix(r.Error, "onnx runtime: device "+device+": ") || !strings.Contains(r.Error, "onnxruntime-gpu") {
				t.Errorf("%s with %q: got %+v", device, named, r)
			}
			if named != "" && !strings.Contains(r.Error, providerFile("cuda")+" is missing next to it") {
				t.Errorf("%s does not say what is missing: %s", device, r.Error)
			}
		}
	}
	r := child(t, childTask{Library: lib, Device: "auto"})
	if r.Error != "" || r.Provider != "cpu" {
		t.Errorf("auto: got %+v", r)
	}
}

// TestProviderThatDoesNotLoad puts files with the right names next to the library: cuda fails with
// the loader's message, auto reports why it uses the CPU.
func TestProviderThatDoesNotLoad(t *testing.T) {
	lib := theLibrary(t)
	copied := put(t, filepath.Base(lib), read(t, lib))
	for _, p := range []string{"shared", "cuda"} {
		reftest.OK(t, os.WriteFile(filepath.Join(filepath.Dir(copied), providerFile(p)), []byte("no library"), 0o644))
	}
	r := child(t, childTask{Library: copied, Device: "cuda:0"})
	if !r.Missing || !strings.Contains(r.Error, "device cuda:0") || !strings.Contains(r.Error, "driver") {
		t.Errorf("cuda: got %+v", r)
	}
	r = child(t, childTask{Library: copied, Device: "auto"})
	if r.Error != "" || r.Provider != "cpu" || !slices.ContainsFunc(r.Log, func(l string) bool { return strings.Contains(l, "using the CPU") }) {
		t.Errorf("auto: got %+v", r)
	}
}

func TestCompareVersions(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"1.30.0", "1.30.0", 0}, {"1.30", "1.30.0", 0}, {"1.9.0", "1.24.0", -1}, {"2.0", "1.99.9", 1}, {"", "1.0", -1}, {"1.24.1", "1.24", 1},
	}
	for _, tt := range tests {
		if got := compareVersions(tt.a, tt.b); got != tt.want {
			t.Errorf("compareVersions(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := compareVersions(tt.b, tt.a); got != -tt.want {
			t.Errorf("compareVersions(%q, %q) = %d, want %d", tt.b, tt.a, got, -tt.want)
		}
	}
}

func TestDiagnose(t *testing.T) {
	lib := theLibrary(t)
	r := child(t, childTask{Diagnose: true, Library: lib, Threads: 1}).Report
	if r == nil || r.Library != lib || r.Source != "--runtime" || compareVersions(r.Version, MinVersion) < 0 || r.Threads != 1 ||
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
	if missingCUDA(Library{Path: lib}) != nil {
		r = child(t, childTask{Diagnose: true, Library: lib, Device: "cuda"}).Report
		if r.Usable || len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "it lacks CUDA: "+providerFile("cuda")+" is missing next to it") || !strings.Contains(r.Problems[0], "runtime install --cuda") {
			t.Errorf("cuda: %+v", r)
		}
	}
}
