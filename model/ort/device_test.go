package ort

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

// providerFile returns the name of a provider's library on Linux, where it is looked for.
func providerFile(provider string) string { return "libonnxruntime_providers_" + provider + ".so" }

func TestDeviceRefused(t *testing.T) {
	lib := theLibrary(t)
	if (library.Library{Path: lib}).CheckCUDA() == nil {
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
