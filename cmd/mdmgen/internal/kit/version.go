package kit

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Version is the module's version as the build recorded it, which names the revision.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")
}

// Executable is "sha256:…" of the program that runs, "" where it cannot be read. It is what a version
// is not: different for different code.
var Executable = sync.OnceValue(func() string {
	f, err := os.Open("/proc/self/exe") // Also where the file was replaced since.
	if err != nil {
		path, err := os.Executable()
		if err != nil {
			return ""
		}
		if f, err = os.Open(path); err != nil {
			return ""
		}
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
})
