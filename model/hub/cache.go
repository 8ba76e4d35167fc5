package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mdmgen/internal/plainfile"
	"mdmgen/model/checkpoint"
)

// Cache is a hub's cache: the folder that HF_HUB_CACHE names.
type Cache struct{ Dir string }

// maxIndex is the maximum size of an index of sharded weights, in bytes.
const maxIndex = 16 << 20

func (c Cache) repository(n Name) string { return filepath.Join(c.Dir, n.folder()) }

func (c Cache) locks(n Name) string { return filepath.Join(c.Dir, ".locks", n.folder()) }

func (c Cache) blob(n Name, digest string) string {
	return filepath.Join(c.repository(n), "blobs", digest)
}

func (c Cache) snapshot(n Name, commit string) string {
	return filepath.Join(c.repository(n), "snapshots", commit)
}

// holds reports whether a blob exists with the size of the file.
func (c Cache) holds(path string, f File) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == f.Size
}

// Commit returns the commit in the cache for the name's revision.
func (c Cache) Commit(n Name) (string, bool) {
	if commitForm.MatchString(n.revision()) {
		return n.revision(), true
	}
	data, err := plainfile.Read(filepath.Join(c.repository(n), "refs", filepath.FromSlash(n.revision())), 64)
	commit := strings.TrimSpace(string(data))
	return commit, err == nil && commitForm.MatchString(commit)
}

// Found is the place of a name in the cache.
type Found struct {
	// Name is the name at its commit.
	Name Name
	// Path is the snapshot's folder, or the file if the name includes one.
	Path string
}

// Find looks for a part of a repository without asking the hub. It returns false if the part is
// missing or incomplete. It records the time of use for [Cache.List].
func (c Cache) Find(n Name, part Part) (Found, bool) {
	commit, ok := c.Commit(n)
	if !ok {
		return Found{}, false
	}
	dir := c.snapshot(n, commit)
	if !whole(dir, n.File, part) {
		return Found{}, false
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // This fails in a read-only cache.
	return Found{n.At(commit), filepath.Join(dir, filepath.FromSlash(n.File))}, true
}

// whole reports whether a snapshot has all of a part: the files that a listing with its files needs, and all
// shards of an index.
func whole(dir, file string, part Part) bool {
	var files []File
	all, err := under(dir)
	for _, path := range all {
		if info, err := fs.Stat(os.DirFS(dir), path); err == nil && info.Mode().IsRegular() {
			files = append(files, File{Path: path})
		}
	}
	need, fault := needed(Name{File: file}, part, files)
	if err != nil || fault != nil {
		return false
	}
	lacks := func(name string) bool { return !slices.Contains(files, File{Path: name}) }
	for _, f := range need {
		if !strings.HasSuffix(f.Path, ".index.json") {
			continue
		}
		index, err := plainfile.Read(filepath.Join(dir, f.Path), maxIndex)
		if err == nil {
			all, err = checkpoint.Shards(index)
		}
		if err != nil || slices.ContainsFunc(all, lacks) {
			return false
		}
	}
	return part == Tokenizer || file != "" || strings.HasSuffix(need[len(need)-1].Path, ".onnx") || !lacks(modelFiles[0])
}

// link makes a file of a snapshot from its blob: a relative symbolic link, or a hard link if the
// file system has none.
func (c Cache) link(n Name, commit string, f File) error {
	blob, path := c.blob(n, f.Digest), filepath.Join(c.snapshot(n, commit), filepath.FromSlash(f.Path))
	if a, err := os.Stat(path); err == nil {
		if b, err := os.Stat(blob); err == nil && os.SameFile(a, b) {
			return nil
		}
	}
	target, err := filepath.Rel(filepath.Dir(path), blob)
	if err != nil {
		return err
	}
	return place(path, func(tmp string) error {
		if os.Symlink(target, tmp) == nil {
			return nil
		}
		if err := os.Link(blob, tmp); err != nil {
			return fmt.Errorf("the file system has neither symbolic nor hard links: %w: set HF_HUB_CACHE to a folder elsewhere", plainfile.Cause(err))
		}
		return nil
	})
}

// place creates a file under a temporary name and renames it. No other process does so at the same
// time: the caller holds the repository's lock.
func place(path string, make func(tmp string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return onPath(path, err)
	}
	tmp := path + ".mdmgen.tmp"
	os.Remove(tmp)
	err := make(tmp)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return onPath(path, err)
}

// under returns the slash-separated paths of the files below a folder, none if it does not exist.
func under(dir string) (paths []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return paths, nil
	}
	return paths, onPath(dir, err)
}
