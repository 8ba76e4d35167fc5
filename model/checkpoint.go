package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
)

// maxInline is the greatest size, in bytes of float32 weights, of a model that
// is held inside its graph. A larger one whose weights are not float32 on disk
// is converted once into the cache, so that it is never in memory twice.
const maxInline = 256 << 20

// openCheckpoint builds the graph of a checkpoint and opens it. It takes
// ownership of c, which is closed before the runtime maps the weights: both at
// once would count them twice.
func openCheckpoint(ctx context.Context, ref string, c *checkpoint.Checkpoint, opts Options) (Model, error) {
	src, f, err := source(ctx, ref, c, opts)
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	s, err := ort.Open(ctx, src, opts.Runtime)
	if err != nil {
		return nil, err
	}
	return &network{session: s, facts: f, ref: ref}, nil
}

// source makes the graph of a checkpoint, in memory or in the cache, and tells
// the facts in force.
func source(ctx context.Context, ref string, c *checkpoint.Checkpoint, opts Options) (ort.Source, Facts, error) {
	read, err := c.Facts()
	if err != nil {
		return ort.Source{}, read, err
	}
	f, err := facts.Apply(read, opts.Sidecar, opts.Override)
	if err != nil {
		return ort.Source{}, f, fmt.Errorf("model %s: %w", ref, err)
	}
	var src ort.Source
	if !graph.CanRefer(c) && graph.Size(c) > maxInline {
		src.Path, err = cached(ctx, c, f, opts.Runtime)
	} else {
		var g graph.Model
		g, err = graph.Build(c, graph.Options{})
		src.Bytes, src.ExternalDir = g.Bytes, g.ExternalDir
	}
	if err != nil {
		return src, f, fmt.Errorf("model %s: %w", ref, err)
	}
	d, err := ort.Describe(src)
	if err == nil {
		err = checkGraph(d, read, f)
	}
	if err != nil {
		return src, f, fmt.Errorf("model %s: %w", ref, err)
	}
	return src, f, nil
}

// cached returns the graph of a converted checkpoint in the cache, which is
// keyed by the content and by the version of the conversion, and converts it
// where it is not there yet. Of several programs that want it one converts and
// the others wait.
func cached(ctx context.Context, c *checkpoint.Checkpoint, f Facts, rt ort.Config) (_ string, err error) {
	root, err := ort.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "converted", strconv.Itoa(graph.Version)+"-"+strings.TrimPrefix(f.Digest, "sha256:"))
	path := filepath.Join(dir, graph.ModelFile)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock")
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// Whatever else is there was left by a program that was killed.
	if err := errors.Join(os.RemoveAll(dir), sweep(dir)); err != nil {
		return "", err
	}
	if rt.Log != nil {
		rt.Log(fmt.Sprintf("converting the weights to float32 once, into %s", dir))
	}
	return path, graph.Write(c, dir)
}

// lockRetry is how often a program asks again for a lock that another holds.
const lockRetry = 100 * time.Millisecond

// sweep removes unfinished conversions to dir.
func sweep(dir string) error {
	entries, err := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(dir)+graph.PartialSuffix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(dir), e.Name())))
		}
	}
	return err
}
