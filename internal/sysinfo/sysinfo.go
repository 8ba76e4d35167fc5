// Package sysinfo queries the system for free memory and disk space. Values that a system does not
// report are unknown.
package sysinfo

import (
	"os"
	"path/filepath"
)

// Disk returns the number of bytes that this user may write to the file system of a folder, which
// need not exist yet. It returns false if the number is unknown.
func Disk(dir string) (uint64, bool) { return disk(Existing(dir)) }

// Files returns the number of files that the process may have open, 0 if it is unknown.
func Files() uint64 { return files() }

// Existing returns dir, or the nearest folder above it that exists.
func Existing(dir string) string {
	for {
		above := filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil || above == dir {
			return dir
		}
		dir = above
	}
}
