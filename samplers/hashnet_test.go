package samplers_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// hashNet is a network for any length: its rows are a hash of the canvas, the position and σ. It
// checks its arguments.
type hashNet struct {
	columns, mask int
	timed         bool
	all           bool // positions that are not masked are queried, too
	calls, rows   int
	fail          func(call int) error
	bad           string
	// change modifies the Spec.
	change func(*samplers.Spec)
	out    []float32 // reused by every call, as allowed
}

func (n *hashNet) Spec() samplers.Spec {
	s := samplers.Spec{TimeConditioned: n.timed, Vocabulary: draw.Vocabulary{Columns: n.columns, Mask: n.mask, Excluded: []int{4}}}
	if n.change != nil {
		n.change(&s)
	}
	return s
}

func (n *hashNet) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	n.calls++
	n.rows += len(c.Counts)
	if n.fail != nil {
		if err := n.fail(n.calls); err != nil {
			return nil, err
		}
	}
	rows, wanted := len(c.Counts), 0
	for _, k := range c.Counts {
		wanted += k
	}
	if rows < 1 || len(c.IDs)%rows != 0 || wanted != len(c.Positions) || slices.Min(c.Counts) < 1 || n.timed != (c.Sigma != nil) || n.timed && len(c.Sigma) != rows {
		n.bad = fmt.Sprintf("rows of %v, %d ids, %d positions, %d values of σ", c.Counts, len(c.IDs), len(c.Positions), len(c.Sigma))
	}
	length, rest := c.Length(), c.Positions
	out := n.out[:0]
	for r, k := range c.Counts {
		canvas := c.IDs[r*length : (r+1)*length]
		var positions []int64
		positions, rest = rest[:k], rest[k:]
		h := fnv.New64a()
		binary.Write(h, binary.LittleEndian, canvas)
		if n.timed {
			binary.Write(h, binary.LittleEndian, c.Sigma[r])
		}
		seen := h.Sum64()
		for _, l := range positions {
			if !n.all && canvas[l] != int64(n.mask) {
				n.bad = fmt.Sprintf("position %d of %v is wanted", l, canvas)
			}
			h.Reset()
			binary.Write(h, binary.LittleEndian, seen^uint64(l))
			x := h.Sum64()
			for range n.columns {
				x = x*6364136223846793005 + 1442695040888963407
				out = append(out, float32(x>>40)*0x1p-22)
			}
		}
	}
	n.out = out
	return out, nil
}

func newHashNet(timed bool) *hashNet { return &hashNet{columns: 7, mask: 6, timed: timed} }

// configOf returns c with a method, which is first-hitting if s is nil.
func configOf(s *catalog.Sampler, c samplers.Config) samplers.Config {
	if c.Method = plan.NewFHS(0); s != nil {
		c.Method = s
	}
	return c
}

func (n *hashNet) config(s *catalog.Sampler, batch int) samplers.Config {
	return configOf(s, samplers.Config{Seed: 5, Batch: batch})
}

// mixed returns canvases of several lengths, with and without prompts, one of them full and one empty.
func mixed() []samplers.Sequence {
	const m = 6
	canvases := [][]int{
		{m, m, m, m, m}, {1, m, m, 3, m}, {m, m, m}, {0, 1, 2}, {}, slices.Repeat([]int{m}, 40), {m, 5, m}, {2, 2, m, m, m}, {m},
	}
	var out []samplers.Sequence
	for i := range 27 {
		out = append(out, samplers.Sequence{Index: uint64(100 + i), Canvas: canvases[i%len(canvases)]})
	}
	return out
}

// collect runs sequences and returns the results by index.
func collect(t testing.TB, net samplers.Network, seqs iter.Seq[samplers.Sequence], cfg samplers.Config) (map[uint64]samplers.Result, samplers.Totals) {
	t.Helper()
	out := make(map[uint64]samplers.Result)
	totals, err := samplers.Sample(context.Background(), net, seqs, cfg, func(r samplers.Result) error {
		if _, twice := out[r.Index]; twice {
			t.Errorf("sequence %d finished twice", r.Index)
		}
		out[r.Index] = r
		return nil
	})
	reftest.OK(t, err)
	return out, totals
}

func sameIDs(a, b map[uint64]samplers.Result) bool {
	return maps.EqualFunc(a, b, func(x, y samplers.Result) bool { return slices.Equal(x.IDs, y.IDs) })
}
