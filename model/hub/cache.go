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

// maxIndex bounds an index of weights in several files, in bytes.
const maxIndex = 16 << 20

func (c Cache) repository(n Name) string { return filepath.Join(c.Dir, n.folder()) }

func (c Cache) locks(n Name) string { return filepath.Join(c.Dir, ".locks", n.folder()) }

func (c Cache) blob(n Name, digest string) string {
	return filepath.Join(c.repository(n), "blobs", digest)
}

func (c Cache) snapshot(n Name, commit string) string {
	return filepath.Join(c.repository(n), "snapshots", commit)
}

// holds reports whether a blob is there, as large as the file.
func (c Cache) holds(path string, f File) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == f.Size
}

// Commit is the commit that the cache has for the name's revision.
func (c Cache) Commit(n Name) (string, bool) {
	if commitForm.MatchString(n.revision()) {
		return n.revision(), true
	}
	data, err := plainfile.Read(filepath.Join(c.repository(n), "refs", filepath.FromSlash(n.revision())), 64)
	commit := strings.TrimSpace(string(data))
	return commit, err == nil && commitForm.MatchString(commit)
}

// Found is what a name leads to in the cache.
type Found struct {
	// Name is the name at its commit.
	Name Name
	// Path is the snapshot's folder, or the file where the name has one.
	Path string
}

// Find looks for a part of a repository without asking the hub; false where it is not there, or
// not all of it. That it was used is kept for [Cache.List].
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
	_ = os.Chtimes(dir, now, now) // Of a cache that is read only it is not kept.
	return Found{n.At(commit), filepath.Join(dir, filepath.FromSlash(n.File))}, true
}

// whole reports whether a snapshot has all of a part. Its weights came last.
func whole(dir, file string, part Part) bool {
	has := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil && info.Mode().IsRegular()
	}
	if part == Tokenizer {
		return vocabulary(has) != nil
	}
	if file != "" {
		return has(file)
	}
	for _, w := range weights {
		if part == Graph {
			break
		}
		if has(w.file) {
			return has(modelFiles[0])
		}
		if has(w.index) {
			names, err := shards(filepath.Join(dir, w.index))
			return err == nil && has(modelFiles[0]) && !slices.ContainsFunc(names, func(n string) bool { return !plainPath(n) || !has(n) })
		}
	}
	for _, at := range []string{dir, filepath.Join(dir, "onnx")} {
		if graphs, _ := filepath.Glob(filepath.Join(at, "*.onnx")); len(graphs) > 0 {
			return true
		}
	}
	return false
}

// shards are the files that an index of weights lists.
func shards(path string) ([]string, error) {
	data, err := plainfile.Read(path, maxIndex)
	if err != nil {
		return nil, err
	}
	return checkpoint.Shards(data)
}

// link makes a file of a snapshot from its blob: a relative link, or where the file system has
// none, a second name.
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
			return fmt.Errorf("the file system has neither links nor second names: %w: set HF_HUB_CACHE to a folder elsewhere", plainfile.Cause(err))
		}
		return nil
	})
}

// point makes a branch or a tag lead to a commit.
func (c Cache) point(n Name, commit string) error {
	if n.revision() == commit {
		return nil
	}
	path := filepath.Join(c.repository(n), "refs", filepath.FromSlash(n.revision()))
	return place(path, func(tmp string) error { return os.WriteFile(tmp, []byte(commit), 0o666) })
}

// place makes a file under another name and gives it its own. No other process does so: the
// repository's lock is held.
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

// under calls yield with the files below a folder, by path with slashes.
func under(dir string, yield func(path string, d fs.DirEntry) error) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err == nil {
			err = yield(filepath.ToSlash(rel), d)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
