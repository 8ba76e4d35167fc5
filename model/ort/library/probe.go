package library

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"mdmgen/internal/plainfile"
)

// probe returns the version in the name of an ONNX Runtime library, "" if the name has none, and an
// error for a version that cannot be used. Only the loader can tell whether the file is a library
// for this machine.
func probe(path string) (version string, err error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return "", err
	}
	f.Close()
	version = numbered.FindString(filepath.Base(resolveLinks(path)))
	if version != "" && compareVersions(version, MinVersion) < 0 {
		err = fmt.Errorf("it is version %s, but %s or newer is needed", version, MinVersion)
	}
	return version, err
}

// numbered matches the version in a library's file name.
var numbered = regexp.MustCompile(`\d+\.\d+(?:\.\d+)?`)

// resolveLinks returns the target of a path once links are followed, or the path if they cannot be.
func resolveLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// Same reports whether two paths lead to the same file.
func Same(a, b string) bool { return resolveLinks(a) == resolveLinks(b) }

// compareVersions compares dotted numbers; missing parts count as 0.
func compareVersions(a, b string) int {
	return slices.Compare(versionParts(a), versionParts(b))
}

func versionParts(v string) []int {
	p := make([]int, 3)
	_, _ = fmt.Sscanf(v, "%d.%d.%d", &p[0], &p[1], &p[2]) // It fills as many as there are.
	return p
}
