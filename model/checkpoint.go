package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/fault"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
)

// maxInline is the size, in bytes of float32 weights, up to which a model is held inside its graph.
// A larger model whose weights are not float32 on disk is converted once into the cache, so that
// they are never in memory twice.
const maxInline = 256 << 20

// openFiles opens the files of a checkpoint: of a built-in one where there is one of the name.
func openFiles(ref, path string, opts Options) (c *checkpoint.Checkpoint, err error) {
	if b := builtin(ref, opts.Builtins); b == nil {
		c, err = checkpoint.Open(path, opts.Weights)
	} else if c, err = checkpoint.OpenFS(b.FS, b.Name); err == nil && !opts.Runtime.VerifyDigest {
		c.Remember(b.Digest)
	}
	if err == nil {
		c.Stamps = cachedir.Stamps(opts.Runtime.VerifyDigest)
	}
	return c, err
}

// openCheckpoint builds and opens the graph of a checkpoint. It closes the checkpoint before the
// runtime maps the weights: with both open they would count twice.
func openCheckpoint(ctx context.Context, ref, path string, opts Options) (Model, error) {
	s, err := openGraph(ctx, ref, path, opts)
	if err != nil {
		return nil, err
	}
	if opts.Keeps = true; keptShapeOf(s.Description()) == s.keeps {
		return newNetwork(ref, s, nil), nil
	}
	return newNetwork(ref, s, func(ctx context.Context) (*ort.Session, error) {
		k, err := openGraph(ctx, ref, path, opts)
		if err == nil && k.facts.Digest != s.facts.Digest {
			err = errors.Join(fmt.Errorf("model %s: its files changed since it was opened: open it again", ref), k.Close())
		}
		return k.Session, err
	}), nil
}

// opened is the graph of a network in a session.
type opened struct {
	*ort.Session
	facts Facts
	same  bool      // the heads agree with the facts on the tokens
	keeps keptShape // of the network, in this graph or in another
	// unused names the tensors of the files that the network does not have.
	unused []string
}

// openGraph opens one graph of a checkpoint.
func openGraph(ctx context.Context, ref, path string, opts Options) (opened, error) {
	loaded := ort.Ahead(ctx, opts.Runtime)
	c, err := openFiles(ref, path, opts)
	if err != nil {
		return opened{}, errors.Join(err, loaded())
	}
	if total := c.Reading(); opts.Watch != nil && total > maxInline {
		c.Progress = opts.Watch("reading", total)
	}
	if opts.Runtime.Log != nil && c.HasDraftAdapter() {
		opts.Runtime.Log(checkpoint.DraftAdapter + ": an adapter for drafts alone, which is not used")
	}
	src, f, same, err := source(ctx, ref, c, opts)
	o := opened{facts: f, same: same, keeps: keptShape{c.Config.Blocks, c.Config.KeyHeads(), c.Config.HeadSize()}, unused: c.Unused()}
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		o.Session, err = openSession(ctx, ref, src, f, opts.Runtime)
	}
	if lerr := loaded(); err == nil {
		err = lerr
	}
	return o, err
}

// openSession opens the graph of a network that this program wrote. int8 weights run only on CPUs.
func openSession(ctx context.Context, ref string, src ort.Source, f Facts, rt ort.Config) (*ort.Session, error) {
	int8 := f.Dtype == string(graph.Int8)
	if int8 && strings.HasPrefix(rt.Device, "cuda") {
		return nil, fault.Usage("model %s: dtype int8 is for the CPU: use fp32 or fp16 with %v", ref, fault.Term{Name: "device", Value: rt.Device})
	}
	if int8 && rt.Device == "auto" {
		rt.Device = "cpu"
		if rt.Log != nil {
			rt.Log("device auto: using the CPU: dtype int8 needs it")
		}
	}
	// With quantised weights the runtime itself fuses some sums with the preceding operator, which
	// changes their rounding. Only the runtime has RMSNorm as one operator.
	src.Fused = !int8 && f.Dtype != string(graph.Int4) && !checkpoint.IsGated(f.Family)
	return ort.Open(ctx, src, rt)
}

// newNetwork returns a network, with its heads if they agree with the facts in force on the tokens.
// past opens the graph that keeps keys and values if o's does not.
func newNetwork(ref string, o opened, past func(context.Context) (*ort.Session, error)) Model {
	n := &network{session: o.Session, facts: o.facts, origin: origin(ref, o.facts, o.Session), keeps: o.keeps, past: past, joint: maxJoint}
	n.origin.UnusedTensors = o.unused
	for block := range n.keeps.blocks {
		in, out := graph.KeptTensors(block)
		n.keptNames = append(n.keptNames, [2]string{in[0], out[0]}, [2]string{in[1], out[1]})
	}
	if o.same {
		return heads{n, strings.HasPrefix(o.Provider(), "cuda")}
	}
	return n
}

// source builds the graph of a checkpoint, in memory or in the cache. It returns the facts in
// force, and whether the graph's heads agree with them on the tokens.
func source(ctx context.Context, ref string, c *checkpoint.Checkpoint, opts Options) (src ort.Source, f Facts, same bool, err error) {
	if err := opts.Dtype.Check(); err != nil {
		return src, f, false, fmt.Errorf("model %s: %w", ref, err)
	}
	read, f, err := factsOf(ctx, ref, c, opts)
	if err != nil {
		return src, f, false, err
	}
	read.Length = max(read.Length, f.Length) // the graph's positions must reach that far
	read.BlockSize = f.BlockSize
	if !opts.Dtype.Plain() {
		f.Dtype = string(opts.Dtype)
	}
	gpu := strings.HasPrefix(opts.Runtime.Device, "cuda")
	if same = true; !(graph.CanRefer(c) && opts.Dtype.Plain()) && graph.Size(c) > maxInline {
		if len(read.Unstated) > 0 {
			read.MaskID, read.Shift, read.Unstated = f.MaskID, f.Shift, nil
		}
		same = sameTokens(read, f)
		src.Path, err = cached(ctx, c, graph.Options{Facts: &read, Dtype: opts.Dtype, GPU: gpu, Keeps: opts.Keeps, Watch: opts.Watch, Survey: opts.Runtime.Survey}, opts.Runtime)
	} else {
		var g graph.Model
		g, err = graph.Build(ctx, c, graph.Options{Facts: &f, Dtype: opts.Dtype, GPU: gpu, Keeps: opts.Keeps, Survey: opts.Runtime.Survey})
		src.Bytes, src.ExternalDir = g.Bytes, g.ExternalDir
	}
	if err != nil {
		return src, f, false, fmt.Errorf("model %s: %w", ref, err)
	}
	return src, f, same, nil
}

// factsOf returns what a checkpoint's files say, and the facts in force, which fit the network.
func factsOf(ctx context.Context, ref string, c *checkpoint.Checkpoint, opts Options) (read, f Facts, err error) {
	if read, err = c.Facts(ctx); err == nil {
		read, err = read.Tell(opts.Known)
	}
	if err != nil {
		return read, f, err
	}
	if f, err = facts.Apply(ctx, read, opts.Sidecar, opts.Override); err == nil {
		err = c.Fits(f)
	}
	if err != nil {
		err = fmt.Errorf("model %s: %w", ref, err)
	}
	return read, f, err
}

// sameTokens reports whether a graph written with some facts has the same tokens, and the same kind
// of output, as the facts in force.
func sameTokens(written, f Facts) bool {
	return f.Output == written.Output && slices.Equal(f.Excluded(), written.Excluded())
}

// cached returns the path of a checkpoint's converted graph in the cache. The key consists of the
// version of the conversion, the digest of the content, the mask's id, the length, the size of
// blocks and the type of the weights. If the graph is missing or not as it was written, cached
// converts the checkpoint; of several processes one converts and the others wait.
func cached(ctx context.Context, c *checkpoint.Checkpoint, o graph.Options, rt ort.Config) (string, error) {
	root, err := convertedDir()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%d-%s-%d-%d", graph.Version, strings.TrimPrefix(o.Facts.Digest, "sha256:"), o.Facts.MaskID, o.Facts.Length)
	if o.Facts.BlockSize != c.Config.BlockSize {
		name += fmt.Sprintf("-blocks-%d", o.Facts.BlockSize)
	}
	if !o.Dtype.Plain() {
		name += "-" + string(o.Dtype)
	}
	if o.GPU {
		name += "-gpu"
	}
	dir := filepath.Join(root, name)
	path := filepath.Join(dir, graph.ModelFile)
	if o.Keeps && o.Facts.BlockSize == 0 {
		path = filepath.Join(dir, graph.KeptFile)
	}
	whole := func() (bool, error) {
		err := graph.CheckAll(ctx, cachedir.Stamps(rt.VerifyDigest), dir)
		if err == nil || ctx.Err() != nil {
			return err == nil, ctx.Err()
		}
		if rt.Log != nil {
			why := fmt.Sprintf("converting the weights to %s once", cmp.Or(o.Dtype, graph.Float32))
			if _, serr := os.Lstat(dir); serr == nil {
				why = fmt.Sprintf("the converted weights have changed (%v): converting them again", err)
			}
			rt.Log(fmt.Sprintf("%s, into %s", why, dir))
		}
		return false, nil
	}
	if graph.CheckAll(ctx, cachedir.Stamps(rt.VerifyDigest), dir) == nil {
		return path, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	if err = graph.Ensure(ctx, c, o, dir, whole); err == nil {
		// A leftover that cannot be removed only takes space.
		_ = graph.Sweep(root)
	}
	if full := (*graph.DiskFullError)(nil); errors.As(err, &full) {
		err = fault.Advise("%w: MDMGEN_CACHE can name a folder on another disk, and %v a smaller type", err, fault.Term{Name: "dtype"})
	}
	return path, err
}

// convertedDir is the part of the cache that holds converted checkpoints.
func convertedDir() (string, error) {
	root, err := cachedir.Path()
	return filepath.Join(root, "converted"), err
}
