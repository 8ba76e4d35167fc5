// Package room says what a machine has room for. What a system does not tell is unknown, and
// nothing is concluded from it.
package room

import (
	"os"
	"path/filepath"
)

// Disk is how many bytes this user may write to the file system of a folder, which need not
// exist yet; false where that is unknown.
func Disk(dir string) (uint64, bool) {
	for {
		if _, err := os.Stat(dir); err == nil {
			return disk(dir)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return 0, false
		}
		dir = above
	}
}

// Memory is how many bytes of memory this process could have at most: those of the machine, or
// of the group that limits it. It is false where that is unknown.
func Memory() (uint64, bool) { return memory() }

// Left is how many bytes of memory this process could still take, and Resident how many it has;
// both are false where that is unknown.
func Left() (uint64, bool) { return left() }

// Resident is the memory that this process has; see [Left].
func Resident() (uint64, bool) { return resident() }
