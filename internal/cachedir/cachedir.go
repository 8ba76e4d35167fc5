// Package cachedir names the folder for everything that mdmgen keeps between runs.
package cachedir

import (
	"errors"
	"os"
	"path/filepath"

	"mdmgen/internal/stamp"
)

// Path returns the folder: MDMGEN_CACHE, else the folder mdmgen in XDG_CACHE_HOME, else mdmgen in
// the user's cache folder of the operating system. The folder need not exist.
func Path() (string, error) {
	if dir := os.Getenv("MDMGEN_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mdmgen"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", errors.New("cache: no home folder: set MDMGEN_CACHE to a folder")
	}
	return filepath.Join(dir, "mdmgen"), nil
}

// Stamps returns the store of digests in the folder; if full is set, every file is read again.
func Stamps(full bool) stamp.Store {
	dir, err := Path()
	if err != nil {
		return stamp.Store{Full: full}
	}
	return stamp.Store{Dir: filepath.Join(dir, "stamps"), Full: full}
}
