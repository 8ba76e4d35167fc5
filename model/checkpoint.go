package model

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
)

// maxInline is the greatest size, in bytes of float32 weights, of a model that
// is held inside its graph. A larger one whose weights are not float32 on disk
// is converted once into the cache, so that it is never in memory twice.
const maxInline = 256 << 20

// openCheckpoint opens a checkpoint, builds its graph and opens that. The checkpoint is
// closed before the runtime maps the weights: both at once would count them twice.
func openCheckpoint(ctx context.Context, ref string, open func() (*checkpoint.Checkpoint, error), opts Options) (Model, error) {
	c, err := open()
	if err != nil {
		return nil, err
	}
	c.Stamps = ort.Stamps(opts.Runtime.VerifyDigest)
	src, f, same, err := source(ctx, ref, c, opts)
	unused := c.Unused()
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
	return newNetwork(ref, s, f, same, unused), nil
}

// newNetwork is a network with heads where they know the same tokens as the facts in force.
// unused are tensors of its files that it does not have.
func newNetwork(ref string, s *ort.Session, f Facts, same bool, unused []string) Model {
	n := &network{session: s, facts: f, ref: ref, unused: unused}
	if same {
		return heads{n}
	}
	return n
}

// source makes the graph of a checkpoint, in memory or in the cache, and tells the facts in
// force, and whether its heads know the same tokens.
func source(ctx context.Context, ref string, c *checkpoint.Checkpoint, opts Options) (src ort.Source, f Facts, same bool, err error) {
	read, err := c.Facts(ctx)
	if err == nil {
		read, err = read.Tell(opts.Known)
	}
	if err != nil {
		return src, read, false, err
	}
	if f, err = facts.Apply(ctx, read, opts.Sidecar, opts.Override); err != nil {
		return src, f, false, fmt.Errorf("model %s: %w", ref, err)
	}
	read.Length = max(read.Length, f.Length) // as far as the graph's positions are to reach
	if same = true; !graph.CanRefer(c) && graph.Size(c) > maxInline {
		if len(read.Untold) > 0 {
			read.MaskID, read.Shift, read.Untold = f.MaskID, f.Shift, nil
		}
		same = sameTokens(read, f)
		src.Path, err = cached(ctx, c, read, opts.Runtime)
	} else {
		var g graph.Model
		g, err = graph.Build(ctx, c, graph.Options{Facts: &f})
		src.Bytes, src.ExternalDir = g.Bytes, g.ExternalDir
	}
	var d ort.Description
	if err == nil {
		d, err = ort.Describe(src)
	}
	if err == nil {
		err = checkGraph(d, read, f)
	}
	if err != nil {
		return src, f, false, fmt.Errorf("model %s: %w", ref, err)
	}
	return src, f, same, nil
}

// sameTokens says whether a graph that was written with some facts takes for tokens,
// and for scores, what the facts in force do.
func sameTokens(written, f Facts) bool {
	return f.Output == written.Output && slices.Equal(f.Excluded(), written.Excluded())
}

// cached returns the graph of a converted checkpoint in the cache, which is
// keyed by the version of the conversion, the content, the mask's id and the length, and converts it
// where it is not there yet, or not as it was written. Of several programs that want it one
// converts and the others wait.
func cached(ctx context.Context, c *checkpoint.Checkpoint, f Facts, rt ort.Config) (string, error) {
	root, err := convertedDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, fmt.Sprintf("%d-%s-%d-%d", graph.Version, strings.TrimPrefix(f.Digest, "sha256:"), f.MaskID, f.Length))
	path := filepath.Join(dir, graph.ModelFile)
	whole := func() (bool, error) {
		err := graph.CheckAll(ctx, ort.Stamps(rt.VerifyDigest), dir)
		if err == nil || ctx.Err() != nil {
			return err == nil, ctx.Err()
		}
		if rt.Log != nil {
			why := "converting the weights to float32 once"
			if _, serr := os.Lstat(dir); serr == nil {
				why = fmt.Sprintf("the converted weights are not what they were (%v): converting them again", err)
			}
			rt.Log(fmt.Sprintf("%s, into %s", why, dir))
		}
		return false, nil
	}
	if graph.CheckAll(ctx, ort.Stamps(rt.VerifyDigest), dir) == nil {
		return path, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	// What cannot be removed harms nobody but the disk.
	_ = graph.Sweep(root)
	return path, graph.Ensure(ctx, c, &f, dir, whole)
}

// convertedDir is the part of the cache that holds converted checkpoints.
func convertedDir() (string, error) {
	root, err := ort.CacheDir()
	return filepath.Join(root, "converted"), err
}
