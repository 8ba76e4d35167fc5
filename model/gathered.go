package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
	"mdmgen/samplers"
)

// foreign is an ONNX graph of another tool. It returns [B, L, V] logits, from which the wanted rows
// are gathered after the call.
type foreign struct {
	session *ort.Session
	facts   Facts
	ref     string
	// canvas, time and aside are the inputs; time is nil if the graph has none.
	canvas, time *part
	aside        []*part
	logits       string
	// batch is the number of canvases of every run, 0 if the graph takes any.
	batch int

	full, out, sigma []float32
	in               []ort.Tensor
}

// part is an input; value returns the values of an aside input by position.
type part struct {
	ort.Feed
	value func(l int) int64
}

// openForeign checks that the graph can be used, and opens it. Outputs other
// than the rows are not computed.
func openForeign(ctx context.Context, ref, path string, d ort.Description, f Facts, opts Options) (Model, error) {
	n := &foreign{facts: f, ref: ref}
	if err := n.bind(d); err != nil {
		return nil, fmt.Errorf("model %s: %w", ref, err)
	}
	s, err := ort.Open(ctx, ort.Source{Path: path, Outputs: []string{n.logits}}, opts.Runtime)
	var missing *library.MissingError
	if err != nil && ctx.Err() == nil && !errors.As(err, &missing) && slices.Contains(d.Weights, "bfloat16") {
		err = fmt.Errorf("model %s: its weights are bfloat16, in which ONNX Runtime lacks operators on this device: export it in float32 or float16 (%w)", ref, err)
	}
	if err != nil {
		return nil, err
	}
	n.session = s
	return n, nil
}

func (n *foreign) Facts() Facts { return n.facts }

func (n *foreign) Spec() samplers.Spec { return n.facts.Spec() }

func (n *foreign) Origin() Origin { return origin(n.ref, n.facts, n.session) }
func (n *foreign) Close() error   { return n.session.Close() }

// Logits computes the rows of all positions, in runs of as many canvases as the graph takes, and
// gathers the wanted ones; see [Model].
func (n *foreign) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	length, err := callShape(n.facts, c)
	if err != nil {
		return nil, err
	}
	rows, v := len(c.Counts), n.facts.Columns
	batch := cmp.Or(n.batch, rows)
	most := batch // canvases of a run that differ
	if n.session.Description().Apart != "" {
		batch, most = max(n.batch, 1), 1
	}
	if err := checkRows(n.facts, max(batch*length, len(c.Positions))); err != nil {
		return nil, err
	}
	n.out = grow(n.out, len(c.Positions)*v)
	i := 0
	for first := 0; first < rows; first += most {
		last := min(first+most, rows)
		if err := n.run(ctx, c, first, last, batch, length); err != nil {
			return nil, err
		}
		for r, k := range c.Counts[first:last] {
			for _, p := range c.Positions[i : i+k] {
				at := r*length + int(p)
				copy(n.out[i*v:(i+1)*v], n.full[at*v:])
				i++
			}
		}
	}
	return n.out, nil
}

// run computes the rows of canvases first, …, last−1 of a call, and repeats the last one until there
// are batch.
func (n *foreign) run(ctx context.Context, c samplers.Call, first, last, batch, length int) error {
	row := func(r int) int { return min(first+r, last-1) }
	shape := []int64{int64(batch), int64(length)}
	n.in = append(n.in[:0], n.canvas.Tensor(shape, func(i int) int64 { return c.IDs[row(i/length)*length+i%length] }))
	for _, p := range n.aside {
		s := shape
		if p.Shape[0] == 1 {
			s = []int64{1, int64(length)}
		}
		n.in = append(n.in, p.Tensor(s, func(i int) int64 { return p.value(i % length) }))
	}
	if n.time != nil {
		n.in = append(n.in, n.times(c, batch, row))
	}
	v := n.facts.Columns
	n.full = grow(n.full, batch*length*v)
	return n.session.Run(ctx, n.in, []ort.Tensor{{Name: n.logits, Shape: []int64{int64(batch), int64(length), int64(v)}, Float32: n.full}})
}

// times returns the input for σ: the value of each row, or zeros if the facts say that the network
// is time-free.
func (n *foreign) times(c samplers.Call, batch int, row func(int) int) ort.Tensor {
	shape := []int64{int64(batch), 1}[:max(len(n.time.Shape), 1)]
	if !n.facts.TimeConditioned {
		return n.time.Tensor(shape, func(int) int64 { return 0 })
	}
	n.sigma = grow(n.sigma, batch)
	for r := range n.sigma {
		n.sigma[r] = float32(c.Sigma[row(r)])
	}
	return ort.Tensor{Name: n.time.Name, Shape: shape, Float32: n.sigma}
}
