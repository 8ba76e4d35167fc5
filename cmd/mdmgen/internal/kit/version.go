package kit

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// Version is the module's version as the build recorded it, which names the revision.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")
}
