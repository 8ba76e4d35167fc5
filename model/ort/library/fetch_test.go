package library

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

// The clients of these tests are shell scripts in a search path of their own, which leave a
// prepared archive in the working folder.

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

func read(t *testing.T, path string) []byte {
	t.Helper()
	return reftest.Must(os.ReadFile(path))(t)
}

// put writes a file into a new folder.
func put(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	reftest.OK(t, os.WriteFile(path, data, 0o755))
	return path
}

// fakeMachine creates an empty cache and a search path with the given scripts, and returns the
// cache.
func fakeMachine(t *testing.T, scripts map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the clients of the test are shell scripts")
	}
	here(t)
	bin, cache := t.TempDir(), t.TempDir()
	for name, body := range scripts {
		reftest.OK(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	t.Setenv("PATH", bin)
	t.Setenv("MDMGEN_CACHE", cache)
	t.Setenv("MDMGEN_OFFLINE", "")
	return cache
}

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// pinned replaces the table, until the test ends, by one with the hashes of the archive, if there is
// one, and of the library in it.
func pinned(t *testing.T, b build, wheel string, library []byte) {
	t.Helper()
	if b.wheelLibrary = sum(library); wheel != "" {
		b.wheel = sum(read(t, wheel))
	}
	old := builds
	builds = []build{b}
	t.Cleanup(func() { builds = old })
}

const libraryBytes = "this stands for a library"

// writeWheel writes a wheel of files, packed by a zip method.
func writeWheel(t *testing.T, method uint16, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write([]byte(data))
		}
		reftest.OK(t, err)
	}
	reftest.OK(t, z.Close())
	return put(t, "onnxruntime-1.32.0-test.whl", b.Bytes())
}

// smallWheel writes a wheel with a stand-in for a library, under a name.
func smallWheel(t *testing.T, entry string) string {
	return writeWheel(t, zip.Deflate, map[string]string{"onnxruntime/__init__.py": libraryBytes, entry: libraryBytes})
}

// deliver returns a client that responds to its command with a file. The search runs an interpreter
// with -c, which is not a download.
func deliver(archive string) string {
	return fmt.Sprintf("case \"$*\" in *find_spec*) exit 0;; esac\n/bin/cp '%s' .", archive)
}

// left returns all files in a cache except the lock.
func left(t *testing.T, cache string) []string {
	t.Helper()
	var files []string
	reftest.OK(t, filepath.WalkDir(cache, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != ".lock" {
			rel, _ := filepath.Rel(cache, path)
			files = append(files, rel)
		}
		return err
	}))
	return files
}

func TestFetch(t *testing.T) {
	b := here(t)
	wheel := smallWheel(t, b.library())
	tests := []struct {
		name    string
		scripts map[string]string
		client  string
	}{
		{"pip", map[string]string{"python3": deliver(wheel)}, "pip"},
		{"pip of python", map[string]string{"python3": "echo 'No module named pip' >&2; exit 1", "python": deliver(wheel)}, "pip"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := fakeMachine(t, tt.scripts)
			pinned(t, b, wheel, []byte(libraryBytes))
			var log []string
			l := reftest.Must(Search{Log: func(s string) { log = append(log, s) }}.Fetch(t.Context(), nil))(t)
			want := filepath.Join("runtime", b.folder(), filepath.Base(b.library()))
			if got := left(t, cache); len(got) != 1 || got[0] != want || l.Path != filepath.Join(cache, want) || l.Version != Version || l.Source != "fetched" {
				t.Errorf("files %v, library %+v", got, l)
			}
			if data, err := os.ReadFile(l.Path); err != nil || string(data) != libraryBytes {
				t.Errorf("the library is %q, %v", data, err)
			}
			if len(log) != 1 || !strings.Contains(log[0], tt.client) || !strings.Contains(log[0], l.Path) || strings.Contains(log[0], "\n") {
				t.Errorf("log: %q", log)
			}
		})
	}
}

func TestFetchFails(t *testing.T) {
	b := here(t)
	wheel, other := smallWheel(t, b.library()), smallWheel(t, "else.so")
	quarter := put(t, "onnxruntime-1.32.0.whl", []byte("half of an archive"))
	tests := []struct {
		name    string
		scripts map[string]string
		want    []string
		pin     string // the archive whose hash is expected; "" is the published one
	}{
		{"no client", nil, []string{"no Python with pip was found to fetch one", "runtime=PATH", "Python package onnxruntime", "install Python's pip"}, ""},
		{"hash of pip's", map[string]string{"python3": deliver(wheel)}, []string{"pip: the archive is not the published one", b.wheel, sum(read(t, wheel))}, ""},
		{"client fails", map[string]string{"python3": "echo WARNING: slow; echo 'ERROR: could not connect' >&2; echo bye; exit 1"}, []string{"pip: ERROR: could not connect"}, ""},
		{"client leaves nothing", map[string]string{"python3": "exit 0"}, []string{"pip: it left 0 archives"}, ""},
		{"both fail", map[string]string{"python3": "echo 'No module named pip' >&2; exit 1", "python": "echo 'ERROR: 404' >&2; exit 1"}, []string{"pip: No module named pip", "ERROR: 404"}, ""},
		{"wheel without library", map[string]string{"python3": deliver(other)}, []string{"the wheel has no " + b.library()}, other},
		{"no archive", map[string]string{"python3": deliver(quarter)}, []string{"pip: zip:"}, quarter},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := fakeMachine(t, tt.scripts)
			if tt.pin != "" {
				pinned(t, b, tt.pin, []byte(libraryBytes))
			}
			_, err := Search{}.Fetch(t.Context(), nil)
			missing(t, err, tt.want...)
			if got := left(t, cache); len(got) != 0 {
				t.Errorf("files were left: %v", got)
			}
		})
	}
}

func TestOffline(t *testing.T) {
	fakeMachine(t, map[string]string{"python3": "exit 0"})
	for _, search := range []Search{{Offline: true}, {}} {
		if !search.Offline {
			t.Setenv("MDMGEN_OFFLINE", "1")
		}
		missing(t, reftest.Err(search.Fetch(t.Context(), nil)), "forbidden", "runtime=PATH")
	}
}

// TestFetchCancelled cancels the client, and a wait for another process.
func TestFetchCancelled(t *testing.T) {
	cache := fakeMachine(t, map[string]string{"python3": "echo half > onnxruntime-1.whl\nexec /bin/sleep 30"})
	var log []string
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Search{Log: func(s string) { log = append(log, s) }}.Fetch(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	if got := left(t, cache); len(got) != 0 || len(log) != 0 {
		t.Errorf("files %v, log %q", got, log)
	}
}

func TestFetchUnwritable(t *testing.T) {
	fakeMachine(t, map[string]string{"python3": "exit 1"})
	t.Setenv("MDMGEN_CACHE", filepath.Join(put(t, "file", []byte("x")), "below"))
	missing(t, reftest.Err(Search{}.Fetch(t.Context(), nil)), "onnx runtime: cache folder: ")
}

// TestFetchOntoAFolder puts a folder in the library's place, which no rename can replace.
func TestFetchOntoAFolder(t *testing.T) {
	cache := fakeMachine(t, map[string]string{"python3": "exit 1"})
	b := here(t)
	final := filepath.Join(cache, "runtime", b.folder(), filepath.Base(b.library()))
	reftest.OK(t, os.MkdirAll(filepath.Join(final, "full"), 0o755))
	missing(t, reftest.Err(Search{}.Fetch(t.Context(), nil)), final+" is a folder: the library belongs there: remove it")
}
