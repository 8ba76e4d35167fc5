package library

import (
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// TestBuilds checks that the table has the promised builds, and nothing that cannot be right.
func TestBuilds(t *testing.T) {
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		reftest.Must(buildFor(goos, goarch, false))(t, system)
	}
	seen := map[string]bool{}
	isHash := func(s string) bool { b, err := hex.DecodeString(s); return err == nil && len(b) == 32 }
	for _, b := range builds {
		for _, sum := range []string{b.wheel, b.wheelLibrary} {
			if !isHash(sum) || seen[sum] {
				t.Errorf("%s/%s: %q is no hash, or twice there", b.goos, b.goarch, sum)
			}
			seen[sum] = true
		}
		if seen[b.folder()] {
			t.Errorf("%s/%s: twice there", b.goos, b.goarch)
		}
		seen[b.folder()] = true
		if ok, _ := filepath.Match("onnxruntime/capi/*onnxruntime*", b.library()); !ok {
			t.Errorf("%s/%s: path %s", b.goos, b.goarch, b.library())
		}
	}
}

func TestNoBuild(t *testing.T) {
	for system, want := range map[string]string{"darwin/amd64": "Intel", "linux/riscv64": "linux on riscv64", "freebsd/amd64": "freebsd"} {
		goos, goarch, _ := strings.Cut(system, "/")
		missing(t, reftest.Err(buildFor(goos, goarch, false)), want)
	}
}
