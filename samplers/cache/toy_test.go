package cache_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// toy is a network with attention in float64: layers of one head, tokens 0..V−1 and the mask V.
type toy struct {
	vocabulary, width int
	shift             bool
	token, place      [][]float64
	layers            []toyLayer
	head              [][]float64
	// held counts the sets of keys and values made, calls the calls, and computed the rows computed.
	held, calls, computed atomic.Int64
	fail                  func(call int64) error
}

type toyLayer struct{ q, k, v, o, mlp [][]float64 }

// newToy makes a network with weights that spread the rows: |attention scores| of several units.
func newToy(vocabulary, longest int) *toy {
	const width = 6
	rng := rand.New(rand.NewPCG(1, uint64(vocabulary)))
	matrix := func(rows, columns int, scale float64) [][]float64 {
		out := make([][]float64, rows)
		for i := range out {
			for range columns {
				out[i] = append(out[i], scale*rng.NormFloat64())
			}
		}
		return out
	}
	n := &toy{vocabulary: vocabulary, width: width, token: matrix(vocabulary+1, width, 1), place: matrix(longest, width, 0.5), head: matrix(vocabulary, width, 0.7)}
	for range 2 {
		n.layers = append(n.layers, toyLayer{matrix(width, width, 0.5), matrix(width, width, 0.5), matrix(width, width, 0.7), matrix(width, width, 0.5), matrix(width, width, 0.5)})
	}
	return n
}

func (n *toy) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: n.vocabulary, Mask: n.vocabulary, Shift: n.shift}}
}

// toyKept holds the keys and values of each layer and position.
type toyKept struct {
	net  *toy
	rows [][][2][]float64
}

func (n *toy) Keep(length int) samplers.Kept {
	n.held.Add(1)
	k := &toyKept{net: n}
	for range n.layers {
		k.rows = append(k.rows, make([][2][]float64, length))
	}
	return k
}

func (n *toy) KeptBytes(length int) int64 { return int64(length) }

func (k *toyKept) Clone() samplers.Kept {
	out := k.net.Keep(0).(*toyKept)
	for i := range k.rows {
		out.rows[i] = slices.Clone(k.rows[i])
	}
	return out
}

func (k *toyKept) Cut(from, to int) samplers.Kept {
	out := &toyKept{net: k.net}
	for _, rows := range k.rows {
		out.rows = append(out.rows, slices.Clone(rows[from:to]))
	}
	return out
}

func (k *toyKept) Paste(from int, rows samplers.Kept) {
	for i, r := range rows.(*toyKept).rows {
		copy(k.rows[i][from:], r)
	}
}

func times(m [][]float64, x []float64) []float64 {
	out := make([]float64, len(m))
	for i, row := range m {
		for j, w := range row {
			out[i] += w * x[j]
		}
	}
	return out
}

func (n *toy) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := n.Rows(ctx, c)
	return out.Float32(), err
}

func (n *toy) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	if call := n.calls.Add(1); n.fail != nil {
		if err := n.fail(call); err != nil {
			return draw.Row{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return draw.Row{}, err
	}
	var out []float64
	length, size := c.Length(), len(c.Compute)/len(c.Counts)
	wanted := c.Positions
	for b, k := range c.Counts {
		asked := c.Compute[b*size : (b+1)*size]
		if c.Compute == nil {
			asked = nil
			for l := range length {
				asked = append(asked, int64(l))
			}
		}
		kept := n.Keep(length).(*toyKept)
		n.held.Add(-1)
		if c.Kept != nil {
			kept = c.Kept[b].(*toyKept)
		}
		rows := n.forward(c.IDs[b*length:(b+1)*length], asked, kept)
		for _, l := range wanted[:k] {
			out = append(out, rows[slices.Index(asked, l)]...)
		}
		wanted = wanted[k:]
	}
	return draw.Double(out), nil
}

// forward computes rows and writes their keys and values.
func (n *toy) forward(ids, asked []int64, kept *toyKept) [][]float64 {
	n.computed.Add(int64(len(asked)))
	x := make([][]float64, len(asked))
	for i, l := range asked {
		for j := range n.width {
			x[i] = append(x[i], n.token[ids[l]][j]+n.place[l][j])
		}
	}
	for j, layer := range n.layers {
		for i, l := range asked {
			kept.rows[j][l] = [2][]float64{times(layer.k, x[i]), times(layer.v, x[i])}
		}
		for i := range x {
			q, sum, mean := times(layer.q, x[i]), 0.0, make([]float64, n.width)
			for _, kv := range kept.rows[j] {
				var score float64
				for a := range q {
					score += q[a] * kv[0][a]
				}
				w := math.Exp(score)
				sum += w
				for a := range mean {
					mean[a] += w * kv[1][a]
				}
			}
			for a, y := range times(layer.o, mean) {
				x[i][a] += y / sum
			}
			for a, y := range times(layer.mlp, x[i]) {
				x[i][a] += math.Tanh(y)
			}
		}
	}
	for i := range x {
		x[i] = times(n.head, x[i])
	}
	return x
}

// masks returns a canvas of length positions that begins with the given tokens.
func masks(net *toy, length int, given ...int) []int {
	canvas := slices.Repeat([]int{net.vocabulary}, length)
	copy(canvas, given)
	return canvas
}

// fill makes n samples of a canvas.
func fill(t testing.TB, net samplers.Network, m samplers.Method, canvas []int, n int, cfg samplers.Config) (map[uint64]samplers.Result, samplers.Totals) {
	t.Helper()
	cfg.Method = m
	out, totals := lawstest.Collect(t, net, samplers.Copies(canvas, 0, n), cfg)
	if totals.Kept != 0 {
		t.Errorf("%d bytes are kept when all is done", totals.Kept)
	}
	return out, totals
}
