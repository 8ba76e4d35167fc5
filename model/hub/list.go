package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/internal/lockfile"
)

// Kept is a revision of a model in the cache.
type Kept struct {
	Repo   string `json:"name"`
	Commit string `json:"commit"`
	// Revisions are the branches and tags that lead to it.
	Revisions []string `json:"revisions"`
	// Bytes is the size of its files; other revisions may share some of them.
	Bytes int64 `json:"bytes"`
	Files int   `json:"files"`
	// Whole means that a model could be opened from it.
	Whole bool      `json:"whole"`
	Used  time.Time `json:"last_used"`
}

// List returns all models in the cache, by name; it may be empty.
func (c Cache) List() ([]Kept, error) {
	entries, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, onPath(c.Dir, err)
	}
	var out []Kept
	for _, e := range entries {
		repo, ok := strings.CutPrefix(e.Name(), "models--")
		if !ok || !e.IsDir() {
			continue
		}
		n := Name{Repo: strings.Replace(repo, "--", "/", 1)}
		snapshots, err := os.ReadDir(filepath.Join(c.repository(n), "snapshots"))
		if err != nil {
			continue // Not a repository of this layout.
		}
		refs, err := c.refs(n)
		if err != nil {
			return nil, err
		}
		for _, s := range snapshots {
			if !s.IsDir() || !commitForm.MatchString(s.Name()) {
				continue
			}
			k := Kept{Repo: n.Repo, Commit: s.Name(), Revisions: refs[s.Name()]}
			dir := c.snapshot(n, s.Name())
			files, err := under(dir)
			if err != nil {
				return nil, err
			}
			for _, path := range files {
				if info, err := fs.Stat(os.DirFS(dir), path); err == nil {
					k.Bytes += info.Size()
					k.Files++
				}
			}
			if info, err := os.Stat(dir); err == nil {
				k.Used = info.ModTime()
			}
			k.Whole = whole(dir, "", Model)
			out = append(out, k)
		}
	}
	return out, nil
}

// refs returns the branches and tags of a repository in the cache, by their commits.
func (c Cache) refs(n Name) (map[string][]string, error) {
	out := make(map[string][]string)
	paths, err := under(filepath.Join(c.repository(n), "refs"))
	for _, path := range paths {
		if commit, ok := c.Commit(n.At(path)); ok {
			out[commit] = append(out[commit], path)
		}
	}
	return out, err
}

// Freed reports what [Cache.Remove] removed.
type Freed struct {
	Repo    string   `json:"name"`
	Commits []string `json:"commits"`
	// Bytes is the disk space that was freed.
	Bytes int64 `json:"bytes"`
}

// Remove removes a repository from the cache, or one revision with the blobs that no other revision
// uses. It returns an error while another process is fetching any of it, and follows no link.
func (c Cache) Remove(n Name) (Freed, error) {
	out := Freed{Repo: n.Repo}
	if _, err := os.Stat(filepath.Join(c.repository(n), "snapshots")); err != nil {
		return out, missingf("%s: is not in the cache %s", n, c.Dir)
	}
	for _, part := range []string{".", "snapshots", "blobs", "refs", ".no_exist", "trees"} {
		path := filepath.Join(c.repository(n), part)
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return out, fault.Errorf("hub", "%s: is a link, and nothing outside the cache is removed: remove the link and its target by hand", path)
		}
	}
	// If one becomes a link meanwhile, nothing outside this folder can be reached.
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return out, onPath(c.Dir, err)
	}
	defer root.Close()
	release, err := c.alone(n)
	if err != nil {
		return out, err
	}
	defer release()
	refs, err := c.refs(n)
	if err != nil {
		return out, err
	}
	snapshots, err := os.ReadDir(filepath.Join(c.repository(n), "snapshots"))
	if err != nil {
		return out, onPath(c.repository(n), err)
	}
	var gone []string
	keep := make(map[string]bool)
	commit, known := c.Commit(n)
	for _, s := range snapshots {
		if !commitForm.MatchString(s.Name()) {
			gone = append(gone, filepath.Join(n.folder(), "snapshots", s.Name())) // partly removed by a killed process
			continue
		}
		if n.Revision == "" || known && s.Name() == commit {
			out.Commits = append(out.Commits, s.Name())
			continue
		}
		dir := c.snapshot(n, s.Name())
		files, err := under(dir)
		if err != nil {
			return out, err
		}
		for _, path := range files {
			if to, err := os.Readlink(filepath.Join(dir, filepath.FromSlash(path))); err == nil {
				keep[filepath.Base(to)] = true
			}
		}
	}
	if len(out.Commits) == 0 && n.Revision != "" {
		return out, missingf("%s: the cache has no such revision of it", n)
	}
	// Rename the snapshots, then delete the references to them, then their blobs: if this is
	// interrupted, nothing that remains looks complete.
	for _, s := range out.Commits {
		for _, ref := range refs[s] {
			gone = append(gone, filepath.Join(n.folder(), "refs", filepath.FromSlash(ref)))
		}
		snapshot := filepath.Join(n.folder(), "snapshots", s)
		if err := root.Rename(snapshot, snapshot+".removed"); err != nil {
			return out, onPath(c.snapshot(n, s), err)
		}
		gone = append(gone, snapshot+".removed", filepath.Join(n.folder(), ".no_exist", s), filepath.Join(n.folder(), "trees", s+".json"))
	}
	blobs, err := under(filepath.Join(c.repository(n), "blobs"))
	if err != nil {
		return out, err
	}
	for _, path := range slices.DeleteFunc(blobs, func(path string) bool { return keep[strings.TrimSuffix(path, unfinished)] }) {
		blob := filepath.Join(n.folder(), "blobs", filepath.FromSlash(path))
		if info, err := root.Lstat(blob); err == nil && info.Mode().IsRegular() {
			out.Bytes += info.Size()
		}
		gone = append(gone, blob)
	}
	if n.Revision == "" || len(out.Commits) == len(snapshots) {
		gone = append(gone, n.folder())
	}
	for _, path := range gone {
		if err := root.RemoveAll(path); err != nil {
			return out, onPath(c.repository(n), err)
		}
	}
	slices.Sort(out.Commits)
	return out, nil
}

// alone takes the locks of a repository and of all its blobs that were ever locked.
func (c Cache) alone(n Name) (release func(), err error) {
	var held []*lockfile.Lock
	release = func() {
		for _, l := range held {
			_ = l.Leave()
		}
	}
	if err := os.MkdirAll(c.locks(n), 0o777); err != nil {
		return nil, onPath(c.locks(n), err)
	}
	names, err := under(c.locks(n))
	if err != nil {
		return nil, err
	}
	names = append(names, "mdmgen.lock")
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		l, err := lockfile.Try(filepath.Join(c.locks(n), name))
		if err != nil {
			release()
			if errors.Is(err, lockfile.ErrHeld) {
				return nil, fault.Errorf("hub", "%s: another process is fetching it: let that one end first", n)
			}
			return nil, onPath(c.locks(n), err)
		}
		held = append(held, l)
	}
	return release, nil
}
