package ort

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/internal/stamp"
)

// CacheDir returns the folder for everything that mdmgen keeps between runs: MDMGEN_CACHE, else the
// folder mdmgen in XDG_CACHE_HOME, else mdmgen in the user's cache folder of the operating system.
// The folder need not exist.
func CacheDir() (string, error) {
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

// runtimeDir is the part of the cache that holds fetched libraries.
func runtimeDir() (string, error) {
	dir, err := CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "runtime"), nil
}

// Stamps returns the store of digests in the cache; if full is set, every file is read again.
func Stamps(full bool) stamp.Store {
	dir, err := CacheDir()
	if err != nil {
		return stamp.Store{Full: full}
	}
	return stamp.Store{Dir: filepath.Join(dir, "stamps"), Full: full}
}

// folderBytes returns the size of all files under a folder, in bytes, without those that cannot be
// read.
func folderBytes(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// IsOffline reports whether fetching is forbidden, by Offline or by MDMGEN_OFFLINE. Online
// overrides both.
func (c Config) IsOffline() bool {
	if c.Online {
		return false
	}
	switch strings.ToLower(os.Getenv("MDMGEN_OFFLINE")) {
	case "", "0", "false", "no", "off":
		return c.Offline
	}
	return true
}
