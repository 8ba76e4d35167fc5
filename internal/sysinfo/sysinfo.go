// Package sysinfo asks the system for the memory and the disk space that are left. What a system
// does not report is unknown, and nothing is concluded from it.
package sysinfo

import (
	"os"
	"path/filepath"
)

// Disk returns how many bytes this user may write to the file system of a folder, which need not
// exist yet; false where that is unknown.
func Disk(dir string) (uint64, bool) { return disk(Existing(dir)) }

// Existing is a folder that need not exist yet, or the one above in which it would be made.
func Existing(dir string) string {
	for {
		above := filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil || above == dir {
			return dir
		}
		dir = above
	}
}
