package graph

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
)

// Options selects the graph to build. The zero value builds the graph described in the package
// comment, without kept keys and values.
type Options struct {
	// Facts, if not nil, replaces the checkpoint's facts: heads need to know which columns are
	// tokens and what a row holds. A missing digest is computed.
	Facts *facts.Facts
	// inPlace is the size in bytes of all weights from which [Build] refers to those in the
	// checkpoint's own file if it can; 0 means inPlaceTotal.
	inPlace int64
	// Dtype is the type of the matrices. Types other than Float32 are copied.
	Dtype Dtype
	// GPU fits the graph to a GPU. Its heads take many rows at once, and layers and attention compute
	// in float16 too if Dtype is [Float16]. The stream, norms, rotations, the conditioning on a time,
	// the sums of products and of attention, logits and the heads' results stay float32 or wider.
	GPU bool
	// Keeps makes [Build] build the graph that keeps keys and values from one call to the next.
	// Calls that keep nothing cost about 2% more in it. [Write] writes both graphs.
	Keeps bool
	// Survey, if not nil, runs graphs that measure what makes an Int8 network more exact.
	Survey Survey
	// measures makes a graph for Survey; means is what it measured.
	measures bool
	means    []float32
	// Force makes [Write] skip the check for room on the disk.
	Force bool
	// Watch, if not nil, is called by [Write] when it begins to read the checkpoint for its digest
	// and when it begins to write. The function that it returns is called with the byte count of
	// each step, total in all.
	Watch func(work string, total int64) func(bytes int64)
}

// watch calls Watch, which may be nil.
func (o Options) watch(work string, total int64) func(int64) {
	if o.Watch == nil {
		return func(int64) {}
	}
	return o.Watch(work, total)
}

// inPlaceTotal is the size in bytes of all weights from which Build prefers references. Smaller
// networks are copied in milliseconds, need one product fewer per branch, and do not depend on a
// file afterwards.
const inPlaceTotal = 64 << 20

// Model is a graph for a runtime to open.
type Model struct {
	// Bytes is an ONNX ModelProto.
	Bytes []byte
	// ExternalDir is the folder that external data of Bytes is relative to, "" if there is none.
	ExternalDir string
	Facts       facts.Facts
}

// inPlaceFrom is the size in bytes from which a matrix is worth a reference: the runtime maps each
// matrix separately.
const inPlaceFrom = 1 << 12

// Build makes the graph of an open checkpoint. If there are many F32 weights on disk, the graph
// refers to them in the checkpoint's own file. The file must then stay in place as long as the
// runtime holds the model; the checkpoint may be closed. All other weights are widened into the
// model's bytes, up to 2 GB as float32; for more, use [Write]. Computing the checkpoint's digest,
// if necessary, stops when ctx is done.
func Build(ctx context.Context, c *checkpoint.Checkpoint, o Options) (Model, error) {
	dir := ""
	if err := o.Dtype.Check(); err != nil {
		return Model{}, fmt.Errorf("graph: %w", err)
	}
	if o.Dtype.Plain() && Size(c) >= cmp.Or(o.inPlace, inPlaceTotal) {
		dir = externalDir(c)
	}
	if err := o.centre(ctx, c); err != nil {
		return Model{}, err
	}
	b, f, err := network(c, o, dir == "")
	if err == nil && f.Digest == "" {
		f.Digest, err = c.Digest(ctx)
	}
	if err != nil {
		return Model{}, err
	}
	if dir != "" {
		for i := range b.inits {
			t := &b.inits[i]
			if s, ok := t.src.(source); ok && s.inPlace() && t.size() >= inPlaceFrom {
				t.file, t.offset = filepath.Base(s.tensor.Path), s.offset()
			}
		}
	}
	m, err := b.encode(f)
	if err != nil {
		return Model{}, err
	}
	text, err := m.Bytes()
	if err != nil {
		return Model{}, fmt.Errorf("graph: %s: %w", c.Name(), err)
	}
	return Model{Bytes: text, ExternalDir: dir, Facts: f}, nil
}

// Size returns the bytes of the checkpoint's parameters as float32.
func Size(c *checkpoint.Checkpoint) int64 { return 4 * c.Config.Parameters() }

// CanRefer reports whether Build can refer to the checkpoint's own file. If not, as for F16 and
// BF16, a large checkpoint is better written to a folder once: a runtime holds a model that is
// opened from bytes two to three times.
func CanRefer(c *checkpoint.Checkpoint) bool { return externalDir(c) != "" }

// network builds the graph. scaled means that its weights will be written out, so that constants
// may be multiplied into them. The facts have no digest if o.Facts has none.
func network(c *checkpoint.Checkpoint, o Options, scaled bool) (*builder, facts.Facts, error) {
	f := c.Undigested()
	if o.Facts != nil {
		f = *o.Facts
	}
	err := f.Validate()
	if err == nil {
		err = c.Fits(f)
	}
	if err != nil {
		return nil, f, fmt.Errorf("graph: %w", err)
	}
	if !o.Dtype.Plain() {
		f.Dtype = string(o.Dtype)
	}
	if err := expertsIn(o.Dtype, c.Config); err != nil {
		return nil, f, fmt.Errorf("graph: %w", err)
	}
	b := newBuilder()
	// A factor folded into a float16 weight would be rounded with it.
	b.scaled, b.dtype = scaled && o.Dtype != Float16, o.Dtype
	b.gpu, b.half = o.GPU, o.GPU && o.Dtype == Float16
	// Layers beside experts are a twentieth of the weights and take half of the time. In 8 bits they are
	// more exact, and twice as fast at 32 rows.
	b.layers8 = o.Dtype == Int4 && c.Config.Experts.Count > 0 && !o.GPU
	if c.Config.Hidden >= large4 {
		b.block4 = tableBlock4
	}
	d := &stream{c: c, b: b, keeps: o.Keeps || f.BlockSize > 0, measures: o.measures, means: o.means}
	d.net = kinds[c.Config.Network()](d)
	d.build(f)
	return b, f, nil
}

// externalDir returns the folder of the files that hold the matrices of c, ""
// where not all of them may be read in place from one folder: a runtime refuses
// references that leave it.
func externalDir(c *checkpoint.Checkpoint) string {
	dir := ""
	if c.Config.Experts.Count > 0 { // Their rows are put into another order.
		return ""
	}
	for s := range c.Config.Tensors() {
		if len(s.Shape) < 2 {
			continue
		}
		src := whole(c.Tensor(s.Name))
		if !src.inPlace() {
			return ""
		}
		at := filepath.Dir(src.tensor.Path)
		if dir != "" && at != dir {
			return ""
		}
		dir = at
	}
	return dir
}
