package hub

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"mdmgen/internal/plainfile"
)

// Plan describes what [Client.Get] is about to download.
type Plan struct {
	// Name is the name at its commit.
	Name Name
	// Files are all files of the part; Missing counts those that are not in the cache yet. Bytes is
	// the size of what remains to be downloaded, Begun the size of what an earlier fetch left.
	Files        []File
	Missing      int
	Bytes, Begun int64
	// Config is the path of config.json, "" if the part needs none.
	Config string
}

// Options sets how [Client.Get] downloads files. The zero value downloads a model.
type Options struct {
	Part Part
	// Before, if not nil, may reject a plan; it is called after config.json has been fetched, and
	// nothing else. Progress is called with byte counts, negative for bytes that turn out to be
	// wrong.
	Before   func(Plan) error
	Progress func(bytes int64)
	// Verify rereads blobs in the cache, and downloads those again whose content does not match
	// their names.
	Verify bool
}

// Get asks the hub for a name's revision and downloads the files of a part that are not in the
// cache. The error is a [*MissingError] if the hub does not have them, denies them to this user, or
// is unreachable.
func (c *Client) Get(ctx context.Context, n Name, o Options) (found Found, err error) {
	if o.Progress == nil {
		o.Progress = func(int64) {}
	}
	whole, err := c.Cache.lock(ctx, n, "mdmgen", func() { c.log("%s: waiting for another process that fetches it", n) })
	if err != nil {
		return Found{}, err
	}
	defer whole.Leave()
	commit, files, err := c.describe(ctx, n)
	if err != nil {
		return Found{}, err
	}
	plan := Plan{Name: n.At(commit)}
	if plan.Files, err = needed(n, o.Part, files); err != nil {
		return Found{}, err
	}
	for i, f := range plan.Files {
		if plan.Files[i], err = c.complete(ctx, n, commit, f); err != nil {
			return Found{}, err
		}
	}
	if err := os.MkdirAll(filepath.Join(c.Cache.repository(n), "blobs"), 0o777); err != nil {
		return Found{}, onPath(c.Cache.repository(n), err)
	}
	if o.Verify {
		if err := c.verify(ctx, plan); err != nil {
			return Found{}, err
		}
	}
	bring := func(f File) error {
		path := c.Cache.blob(n, f.Digest)
		if !c.Cache.holds(path, f) {
			if err := c.fetch(ctx, n, commit, f, path, o.Progress); err != nil {
				return err
			}
		}
		return c.Cache.link(n, commit, f)
	}
	if o.Before != nil {
		if i := slices.IndexFunc(plan.Files, func(f File) bool { return f.Path == modelFiles[0] && f.Size <= maxIndex }); i >= 0 {
			if err := bring(plan.Files[i]); err != nil {
				return Found{}, err
			}
			plan.Config = filepath.Join(c.Cache.snapshot(n, commit), modelFiles[0])
		}
		for _, f := range plan.Files {
			if path := c.Cache.blob(n, f.Digest); !c.Cache.holds(path, f) {
				plan.Missing++
				begun := int64(0)
				if info, err := os.Stat(path + unfinished); err == nil {
					begun = min(info.Size(), f.Size)
				}
				plan.Bytes += f.Size - begun
				plan.Begun += begun
			}
		}
		if err := o.Before(plan); err != nil {
			return Found{}, err
		}
	}
	for _, f := range plan.Files {
		if err := bring(f); err != nil {
			return Found{}, err
		}
	}
	if n.revision() != commit { // a branch or a tag
		ref := filepath.Join(c.Cache.repository(n), "refs", filepath.FromSlash(n.revision()))
		if err := place(ref, func(tmp string) error { return os.WriteFile(tmp, []byte(commit), 0o666) }); err != nil {
			return Found{}, err
		}
	}
	found, ok := c.Cache.Find(plan.Name, o.Part)
	if !ok {
		return Found{}, missingf("%s: all %d expected files are here, but they are not a complete model: see %s", n, len(plan.Files), c.Cache.snapshot(n, commit))
	}
	return found, nil
}

// verify removes blobs whose content does not match their names.
func (c *Client) verify(ctx context.Context, p Plan) error {
	for _, f := range p.Files {
		path := c.Cache.blob(p.Name, f.Digest)
		file, err := plainfile.Open(path)
		if err != nil {
			continue // It is downloaded.
		}
		sum, size, err := digestOf(ctx, f, file)
		file.Close()
		if err != nil {
			return onPath(path, err)
		}
		if sum != f.Digest || size != f.Size {
			c.log("%s: %s is damaged: fetching it again", p.Name, f.Path)
			if err := os.Remove(path); err != nil {
				return onPath(path, err)
			}
		}
	}
	return nil
}
