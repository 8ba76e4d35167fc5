package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/stamp"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// openONNX opens an .onnx file: one of ours, with facts in its metadata and an input for the wanted
// positions, or another tool's, which returns the rows of every position. A file that does not fit
// is rejected before its weights are loaded.
func openONNX(ctx context.Context, ref, path string, opts Options) (Model, error) {
	d, read, f, own, err := readONNX(ctx, ref, path, opts)
	if err != nil {
		return nil, err
	}
	if _, ours := d.Input("positions"); !ours {
		m, err := openForeign(ctx, ref, path, d, f, opts)
		if err == nil && f.MaskID >= f.Columns {
			err = takesMask(ctx, m, ref)
		}
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	o := opened{facts: f, same: own && sameTokens(read, f), keeps: keptShapeOf(d)}
	var past func(context.Context) (*ort.Session, error)
	if o.keeps.blocks == 0 {
		beside := filepath.Join(filepath.Dir(path), graph.KeptFile)
		if o.keeps, err = keptGraphShape(ctx, path, beside, d, cachedir.Stamps(opts.Runtime.VerifyDigest)); err != nil {
			return nil, err
		}
		switch {
		case o.keeps.blocks > 0 && opts.Keeps:
			path = beside
		case o.keeps.blocks > 0:
			past = func(ctx context.Context) (*ort.Session, error) {
				return openSession(ctx, ref, ort.Source{Path: beside}, f, opts.Runtime)
			}
		}
	}
	if o.Session, err = openSession(ctx, ref, ort.Source{Path: path}, f, opts.Runtime); err != nil {
		return nil, err
	}
	return newNetwork(ref, o, past), nil
}

// keptGraphShape returns the shape of keys and values of the graph that [graph.Write] wrote next to a
// graph that keeps none. It returns the zero shape if there is no such graph, no manifest lists it,
// or its facts differ.
func keptGraphShape(ctx context.Context, path, beside string, d ort.Description, stamps stamp.Store) (k keptShape, err error) {
	if _, err := plainfile.Inside(filepath.Dir(path), graph.KeptFile); filepath.Base(path) != graph.ModelFile || errors.Is(err, fs.ErrNotExist) {
		return k, nil
	} else if err != nil {
		return k, fmt.Errorf("model %s: %w", beside, err)
	}
	written, err := asWritten(ctx, stamps, beside)
	if err != nil || !written {
		return k, err
	}
	past, err := ort.Describe(ort.Source{Path: beside})
	if err != nil || past.Metadata[graph.Key] != d.Metadata[graph.Key] {
		return k, err
	}
	return keptShapeOf(past), nil
}

// takesMask calls a network whose rows have no column for MASK with a canvas of MASK, since nothing
// in the file shows whether the network has an embedding for it. If the call fails, takesMask
// closes the model.
func takesMask(ctx context.Context, m Model, ref string) error {
	f := m.Facts()
	ids := []int64{int64(f.MaskID)}
	if f.FixedLength {
		ids = slices.Repeat(ids, f.Length)
	}
	var sigma []float64
	if f.TimeConditioned {
		sigma = []float64{1}
	}
	if _, err := m.Logits(ctx, samplers.Call{IDs: ids, Positions: []int64{0}, Counts: []int{1}, Sigma: sigma}); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("model %s: a first call with MASK (mask_id %d, length %d) fails: %w; if the network has no embedding for that id, mask_id must be in 0..%d", ref, f.MaskID, len(ids), fault.WithoutName(err), f.Columns-1)
		}
		return errors.Join(err, m.Close())
	}
	return nil
}

// readONNX reads an ONNX file and returns its description, read and own as graphFacts does, and f,
// the facts in force, which fit the graph, with the digest of the files.
func readONNX(ctx context.Context, ref, path string, opts Options) (d ort.Description, read, f Facts, own bool, err error) {
	fail := func(err error) (ort.Description, Facts, Facts, bool, error) {
		return d, read, f, own, fmt.Errorf("model %s: %w", ref, err)
	}
	if d, err = ort.Describe(ort.Source{Path: path}); err != nil {
		return d, read, f, own, err
	}
	if read, own, err = graphFacts(d); err != nil {
		return fail(err)
	}
	sidecar := opts.Sidecar
	if sidecar == "" {
		if sidecar, err = sidecarOf(path); err != nil {
			return fail(err)
		}
	}
	if f, err = facts.Apply(ctx, read, sidecar, opts.Override); err != nil {
		if _, ours := d.Input("positions"); !ours {
			err = errors.Join(err, (&foreign{facts: f}).bind(d))
		}
		return fail(hint(own, f, err))
	}
	if _, ours := d.Input("positions"); ours {
		if err = checkGraph(d, read, f); err != nil {
			return fail(err)
		}
	}
	_, err = digestONNX(ctx, path, own, read, &f, cachedir.Stamps(opts.Runtime.VerifyDigest))
	return d, read, f, own, err
}

// digestONNX sets f.Digest: to the checkpoint's digest, with written true, if the files are as this
// program wrote them, else to that of the files.
func digestONNX(ctx context.Context, path string, own bool, read Facts, f *Facts, stamps stamp.Store) (written bool, err error) {
	if own && read.Digest != "" {
		if written, err = asWritten(ctx, stamps, path); err != nil {
			return false, err
		}
	}
	if f.Digest = read.Digest; !written {
		f.Digest, err = fileDigest(ctx, stamps, path)
	}
	return written, err
}

// hint adds advice on how to set the missing facts to an error, unless the file has facts of its own.
func hint(own bool, f Facts, err error) error {
	if own {
		return err
	}
	terms := []any{err}
	for _, fact := range []struct {
		missing bool
		set     string
	}{{f.MaskID == facts.Unknown, "mask_id=ID"}, {f.Length == facts.Unknown, "length=N"}, {f.Columns == facts.Unknown, "columns=V"}} {
		if fact.missing {
			terms = append(terms, fault.Term{Name: "fact", Value: fact.set})
		}
	}
	if len(terms) == 1 {
		terms = append(terms, fault.Term{Name: "fact", Value: "KEY=VALUE"})
	}
	return fault.Advise("%w (this ONNX file contains no facts: give them in a sidecar NAME.mdmgen.json or with"+strings.Repeat(" %v", len(terms)-1)+")", terms...)
}

// graphFacts reads the facts of a graph. own reports whether they are in its metadata; otherwise
// they are derived from the inputs and outputs, and the rest is unknown.
func graphFacts(d ort.Description) (f Facts, own bool, err error) {
	if text, ok := d.Metadata[graph.Key]; ok {
		err = f.Decode([]byte(text))
		return f, true, err
	}
	f = Facts{Schema: facts.Schema, Family: "onnx", Output: facts.Logits, Noise: "loglinear", MaskID: facts.Unknown, Length: facts.Unknown, Columns: facts.Unknown}
	if out, ok := logitsOutput(d); ok {
		if n := out.Shape[len(out.Shape)-1]; n > 0 {
			f.Columns = int(n)
		}
	}
	canvas, _ := canvasInput(d, "")
	_, f.TimeConditioned = timeInput(d, canvas.Name)
	if l := fixedLength(d); l > 0 {
		f.Length, f.FixedLength = l, true
	}
	return f, false, nil
}

// checkGraph compares the facts in force with the inputs and outputs of one of our graphs, and with
// the facts that it was written with.
func checkGraph(d ort.Description, written, f Facts) error {
	var errs []error
	wanted := slices.Concat(headInputs, []string{"input_ids"})
	if written.BlockSize > 0 {
		wanted = append(wanted, "noisy")
	}
	if written.Causal {
		wanted = append(wanted, "block_from", "block_to")
	}
	if i := slices.IndexFunc(wanted, func(name string) bool { _, ok := d.Input(name); return !ok }); i >= 0 {
		errs = append(errs, fmt.Errorf("input %s is missing: an earlier version of this program wrote the file: convert the checkpoint again", wanted[i]))
	}
	written.Columns = f.Columns
	if out, ok := d.Output("logits"); !ok || len(out.Shape) == 0 {
		errs = append(errs, errors.New("output logits is missing"))
	} else if n := out.Shape[len(out.Shape)-1]; n > 0 {
		written.Columns = int(n)
	}
	_, written.TimeConditioned = d.Input("sigma")
	return errors.Join(append(errs, f.Fits(written))...)
}
