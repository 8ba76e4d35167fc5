// Package sysinfo queries the system for free memory and disk space. Values that a system does not
// report are unknown.
package sysinfo

import (
	"os"
	"path/filepath"
)

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
