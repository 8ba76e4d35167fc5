package graph

import (
	"context"
	"math"

	"mdmgen/model/checkpoint"
	"mdmgen/model/internal/onnxpb"
)

// Rows of the stream have a mean, which is nearly the same on all canvases. What a product makes of it is
// known, so the layer before leaves it out, in its bias, and the layer behind adds its product with the
// weights, in its bias. This takes steps from rows that differ little, and lets the rounding of weights
// act on less (Nagel et al., arXiv 1906.04721, on the absorption of high biases and on bias correction).

// surveyed is the number of masks of the canvas on which means are measured: docs/precision.md has the
// loss with others.
const surveyed = 128

// Survey runs a model of bytes, with external data in dir, that has one input, input_ids [1, n], and one
// output, means [k, width], and fills means with the output.
type Survey func(ctx context.Context, model []byte, dir string, ids []int64, width int, means []float32) error

// centre measures the means of a network whose rows can lack them, if its products are in 8 bits. It leaves
// out a network that [Build] cannot hold.
func (o *Options) centre(ctx context.Context, c *checkpoint.Checkpoint) error {
	if o.Survey == nil || o.Dtype != Int8 || c.Config.Network() != checkpoint.Encoder || Size(c) > math.MaxInt32 && !CanRefer(c) {
		return nil
	}
	m, err := Build(ctx, c, Options{Facts: o.Facts, measures: true})
	if err != nil {
		return err
	}
	ids := make([]int64, min(surveyed, m.Facts.Length))
	for i := range ids {
		ids[i] = int64(m.Facts.MaskID)
	}
	o.means = make([]float32, (3*c.Config.Blocks+1)*c.Config.Hidden)
	return o.Survey(ctx, m.Bytes, m.ExternalDir, ids, c.Config.Hidden, o.means)
}

// survey adds the network up to its last layer, with the means of the rows as its output.
func (d *stream) survey() {
	b := d.b
	d.keptInputs()
	x := d.net.embed()
	for i := range d.c.Config.Blocks {
		x = d.net.block(i, x, false)
	}
	b.output("means", b.node("", "Concat", attrs{{"axis", 0}}, d.measured...), onnxpb.Float, len(d.measured), d.c.Config.Hidden)
}

// measure adds the mean of rows x to those of a survey, and returns x.
func (d *stream) measure(x string) string {
	if d.measures {
		d.measured = append(d.measured, d.b.node("", "ReduceMean", attrs{{"axes", []int{0}}}, x))
	}
	return x
}

// mean is mean i that rows lack, [Hidden], nil if they lack none.
func (d *stream) mean(i int) []float32 {
	if d.means == nil {
		return nil
	}
	return d.means[i*d.c.Config.Hidden:][:d.c.Config.Hidden]
}

// bias returns the bias [out] of a layer for rows that lack a mean [in]; plus [out] is added to it, and
// minus [out] subtracted. All three may be nil.
func (d *stream) bias(name string, lacks, plus, minus []float32) []float32 {
	v := vector(d.c, name+".bias")
	row := make([]float32, len(lacks))
	for i := range v {
		sum := float64(v[i])
		if lacks != nil {
			d.c.Tensor(name+".weight").Widen(row, i*len(row))
			for j, w := range row {
				sum += float64(w) * float64(lacks[j])
			}
		}
		if plus != nil {
			sum += float64(plus[i])
		}
		if minus != nil {
			sum -= float64(minus[i])
		}
		v[i] = float32(sum)
	}
	return v
}
