//go:build linux

package ort

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
		var missing *MissingError
		if _, _, err := Install(t.Context(), Config{}, true); !errors.As(err, &missing) {
			t.Errorf("a system without a build with CUDA: %v", err)
		}
		return
	}
	sum := func(data string) string {
		h := sha256.Sum256([]byte(data))
		return hex.EncodeToString(h[:])
	}
	image := "library"
	files, providers := map[string]string{filepath.Base(b.library): image}, map[string]string{}
	for name := range b.providers {
		files[name], providers[name] = image+name, sum(image+name)
	}
	packed := map[string]string{}
	for name, data := range files {
		packed["onnxruntime/capi/"+name] = data
	}
	wheel := writeWheel(t, zip.Deflate, packed)
	b.wheel, b.wheelLibrary, b.providers = sum(string(read(t, wheel))), sum(image), providers
	cache := fakeMachine(t, map[string]string{"python3": `case "$*" in *onnxruntime-gpu==1.30.0*) /bin/cp '` + wheel + `' .;; esac`})
	old := builds
	builds = []build{b}
	t.Cleanup(func() { builds = old })
	if _, _, err := Install(t.Context(), Config{Offline: true}, true); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("offline: %v", err)
	}
	l, has, err := Install(t.Context(), Config{}, true)
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
	reftest.OK(t, missingCUDA(l))
	provider := filepath.Join(filepath.Dir(l.Path), providerFile("cuda"))
	reftest.OK(t, os.WriteFile(provider, []byte("something else"), 0o755))
	reftest.Fails(t, missingCUDA(l), "damaged", "a provider that is another one")
	if _, _, err := Install(t.Context(), Config{}, true); err != nil || missingCUDA(l) != nil {
		t.Errorf("a provider that is another one is not brought again: %v, %v", err, missingCUDA(l))
	}
}
