//go:build linux

package library

import (
	"archive/zip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// The build with CUDA is fetched only on request: three files, each with the published digest. A
// changed one is no longer used, and fetched again.
func TestInstallCUDA(t *testing.T) {
	b, err := buildFor(runtime.GOOS, runtime.GOARCH, true)
	if err != nil {
		_, _, err := Search{}.Install(t.Context(), true)
		missing(t, err)
		return
	}
	files, packed, providers := map[string]string{filepath.Base(b.library()): "library"}, map[string]string{}, map[string]string{}
	for name := range b.providers {
		files[name], providers[name] = name, sum([]byte(name))
	}
	for name, data := range files {
		packed["onnxruntime/capi/"+name] = data
	}
	wheel := writeWheel(t, zip.Deflate, packed)
	b.providers = providers
	cache := fakeMachine(t, map[string]string{"python3": `case "$*" in *onnxruntime-gpu==1.31.1*) /bin/cp '` + wheel + `' .;; esac`})
	pinned(t, b, wheel, []byte("library"))
	if _, _, err := (Search{Offline: true}).Install(t.Context(), true); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("offline: %v", err)
	}
	l, has, err := Search{}.Install(t.Context(), true)
	if err != nil || has == nil || !strings.HasSuffix(filepath.Dir(l.Path), "-cuda13") {
		t.Fatalf("%+v, %+v, %v", l, has, err)
	}
	for name, data := range files {
		if got, err := os.ReadFile(filepath.Join(filepath.Dir(l.Path), name)); err != nil || string(got) != data {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if got := left(t, filepath.Join(cache, "runtime")); len(got) != len(files) {
		t.Errorf("the cache has %v", got)
	}
	l.Source = sourceCache
	reftest.OK(t, l.CheckCUDA())
	provider := filepath.Join(filepath.Dir(l.Path), providerFile("cuda"))
	reftest.OK(t, os.WriteFile(provider, []byte("something else"), 0o755))
	reftest.Fails(t, l.CheckCUDA(), "damaged", "a provider that is another one")
	if _, _, err := (Search{}).Install(t.Context(), true); err != nil || l.CheckCUDA() != nil {
		t.Errorf("a provider that is another one is not brought again: %v, %v", err, l.CheckCUDA())
	}
}
