package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// openCheckpoint builds the graph of a checkpoint and opens it. It takes
// ownership of c, which is closed before the runtime maps the weights: both at
// once would count them twice.
func openCheckpoint(ctx context.Context, ref string, c *checkpoint.Checkpoint, opts Options) (Model, error) {
	src, f, err := source(ref, c, opts)
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
func source(ref string, c *checkpoint.Checkpoint, opts Options) (ort.Source, Facts, error) {
	read, err := c.Facts()
	if err != nil {
		return ort.Source{}, read, err
	}
	f, err := facts.Apply(read, opts.Sidecar, opts.Override)
	if err != nil {
		return ort.Source{}, f, fmt.Errorf("model %s: %w", ref, err)
	}
	var src ort.Source
	if c.Dtype() != checkpoint.F32 && 4*f.Parameters > maxInline {
		src.Path, err = cached(c, f, opts.Runtime)
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
// keyed by the content, and converts it where it is not there yet.
func cached(c *checkpoint.Checkpoint, f Facts, rt ort.Config) (string, error) {
	root, err := ort.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "converted", strings.TrimPrefix(f.Digest, "sha256:"))
	path := filepath.Join(dir, "model.onnx")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	if rt.Log != nil {
		rt.Log(fmt.Sprintf("converting the weights to float32 once, into %s", dir))
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	return path, graph.Write(c, dir)
}
