package samplers_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"testing"

	"mdmgen/samplers"
)

// hashNet is a network for any length: its rows are a hash of the canvas, the
// position and σ. It checks what it is handed.
type hashNet struct {
	columns, mask int
	timed         bool
	calls, rows   int
	fail          func(call int) error
	bad           string
	// change changes the Spec.
	change func(*samplers.Spec)
	out    []float32 // is used again by every call, as it may be
}

func (n *hashNet) Spec() samplers.Spec {
	s := samplers.Spec{TimeConditioned: n.timed, Vocabulary: samplers.Vocabulary{Columns: n.columns, Mask: n.mask, Excluded: []int{4}}}
	if n.change != nil {
		n.change(&s)
	}
	return s
}

func (n *hashNet) Logits(_ context.Context, rows int, ids, positions []int64, sigma []float64) ([]float32, error) {
	n.calls++
	n.rows += rows
	if n.fail != nil {
		if err := n.fail(n.calls); err != nil {
			return nil, err
		}
	}
	if rows < 1 || len(ids)%rows != 0 || len(positions)%rows != 0 || len(positions) == 0 || n.timed != (sigma != nil) || n.timed && len(sigma) != rows {
		n.bad = fmt.Sprintf("%d rows, %d ids, %d positions, %d values of σ", rows, len(ids), len(positions), len(sigma))
	}
	length, k := len(ids)/rows, len(positions)/rows
	out := n.out[:0]
	for r := range rows {
		canvas := ids[r*length : (r+1)*length]
		for _, l := range positions[r*k : (r+1)*k] {
			if canvas[l] != int64(n.mask) {
				n.bad = fmt.Sprintf("position %d of %v is wanted", l, canvas)
			}
			h := fnv.New64a()
			fmt.Fprint(h, canvas, l)
			if n.timed {
				fmt.Fprint(h, sigma[r])
			}
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

// configOf sets the method of a configuration; nil is first-hitting.
func configOf(s *samplers.Sampler, c samplers.Config) samplers.Config {
	if s != nil {
		c.Method = s
	}
	return c
}

func (n *hashNet) config(s *samplers.Sampler, batch int) samplers.Config {
	return configOf(s, samplers.Config{Seed: 5, Batch: batch})
}

// mixed is a set of canvases of several lengths, with and without prompts, one of
// them full and one empty.
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
	if err != nil {
		t.Fatal(err)
	}
	return out, totals
}

func sameIDs(a, b map[uint64]samplers.Result) bool {
	return maps.EqualFunc(a, b, func(x, y samplers.Result) bool { return slices.Equal(x.IDs, y.IDs) })
}
