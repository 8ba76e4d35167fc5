// Package reftest finds reference files for tests: the small ones in the
// module's testdata folder, and the large ones in a folder that is not part of
// the module.
package reftest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// Tests keep little memory and allocate much: with the default of a collection every four megabytes
// they spend a sixth of their time on it.
func init() { debug.SetGCPercent(400) }

// root returns the module's folder.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Builtin returns the path of the folder of the built-in model.
func Builtin(t testing.TB) string {
	t.Helper()
	return Data(t, "..", "builtin", "fairytale")
}

// Data returns the path of a file or folder in the module's testdata folder. It fails the test if
// there is none.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{root(), "testdata"}, elem...)...)
	Must(os.Stat(p))(t)
	return p
}

// NoRuntime skips a test that needs ONNX Runtime if err reports that there is none. It fails the test if
// the environment variable MDMGEN_REQUIRE_RUNTIME is set, so that a gate cannot pass because nothing ran.
func NoRuntime(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("MDMGEN_REQUIRE_RUNTIME") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// Folder returns the folder of the large reference files. It is the folder in the environment
// variable MDMGEN_REFERENCE, relative to the module's folder, or by default "shared" next to the
// module. named reports whether the variable is set.
func Folder(t testing.TB) (dir string, named bool) {
	t.Helper()
	dir = os.Getenv("MDMGEN_REFERENCE")
	switch {
	case dir == "":
		return filepath.Join(filepath.Dir(root()), "shared"), false
	case !filepath.IsAbs(dir):
		dir = filepath.Join(root(), dir)
	}
	return dir, true
}

// Shared returns the path of a file or folder among the large reference files. It skips the test if
// there is none.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir, _ := Folder(t)
	p := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("reference files are not here (%s); set MDMGEN_REFERENCE to their folder", filepath.Join(elem...))
	}
	return p
}

// Law returns the path of the file of a law or a world. It prefers the module's own, which always
// exist, to the large reference files, and skips the test if there is none.
func Law(t testing.TB, name string) string {
	t.Helper()
	return Reference(t, "laws", name+".json")
}

// Checkpoint does the same for the folder of a checkpoint with golden.safetensors, or for one of
// another kind, as KIND/NAME.
func Checkpoint(t testing.TB, name string) string {
	t.Helper()
	if kind, rest, ok := strings.Cut(name, "/"); ok {
		return Reference(t, kind, rest)
	}
	return Reference(t, "checkpoints", name)
}

// Reference does the same for a file or folder of a kind.
func Reference(t testing.TB, kind, name string) string {
	t.Helper()
	p := filepath.Join("reference", kind, name)
	if _, err := os.Stat(filepath.Join(root(), "testdata", p)); err == nil {
		return Data(t, p)
	}
	return Shared(t, p)
}

// Gunzip returns the content of a gzip file.
func Gunzip(t testing.TB, path string) []byte {
	t.Helper()
	f := Must(os.Open(path))(t)
	defer f.Close()
	return Must(io.ReadAll(Must(gzip.NewReader(f))(t)))(t)
}
