package samplers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
)

// TestStop checks that a finished block that contains the stop token ends the sequence, which is
// filled with it.
func TestStop(t *testing.T) {
	net := newHashNet(false)
	for _, never := range []int{net.mask, net.columns} {
		reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 3, Stop: &never}}, net.Spec())), "stop: id", "stop", never)
	}
	canvas := slices.Repeat([]int{net.mask}, 12)
	for _, name := range []string{"threshold", "ordered", "remdm"} {
		fill := func(d catalog.LayerOptions) samplers.Result {
			t.Helper()
			d.BlockLength = 3
			s := mustNew(t, catalog.Options{Sampler: name, LayerOptions: d})
			r, _ := collect(t, net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), net.config(s, 1))
			return r[0]
		}
		whole := fill(catalog.LayerOptions{})
		for at, token := range whole.IDs {
			block := slices.Index(whole.IDs, token) / 3
			if at/3 != block {
				continue // not its first block
			}
			got := fill(catalog.LayerOptions{Stop: &token})
			want := slices.Concat(whole.IDs[:3*(block+1)], slices.Repeat([]int{token}, 12-3*(block+1)))
			if !slices.Equal(got.IDs, want) || block < 3 && got.Calls >= whole.Calls || got.Left != 0 {
				t.Errorf("%s, stop %d of %v: %v in %d of %d calls", name, token, whole.IDs, got.IDs, got.Calls, whole.Calls)
			}
		}
	}
}

// TestBlocks checks that a block is filled before the next, and that the first begins after the prompt.
func TestBlocks(t *testing.T) {
	net := newHashNet(false)
	canvas := []int{6, 1, 6, 6, 6, 6, 6}
	for reach, left := range map[string]int{"before": 0, "inside": 1} {
		s := mustNew(t, catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Reach: reach}, LayerOptions: catalog.LayerOptions{BlockLength: 2, PromptLength: new(2)}})
		block := 0
		cfg := net.config(s, 1)
		cfg.OnStep = func(s samplers.Step) {
			for _, l := range s.Positions {
				if l >= 2 && (l-2)/2 < block {
					t.Errorf("position %d after block %d", l, block)
				}
				block = max(block, (l-2)/2)
			}
		}
		r, _ := collect(t, net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg)
		if r[0].Left != left || block != 2 {
			t.Errorf("reach %s: %+v", reach, r[0])
		}
	}
	s := mustNew(t, catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 2, PromptLength: new(8)}})
	reftest.Fails(t, reftest.Err(last(newEngine(t, net, 1), context.Background(), samplers.Job{Canvas: canvas, Method: s})), "the prompt has 8 positions, but the canvas has 7", "a prompt that is too long")
}

// TestWindows checks that one block is the canvas, that blocks do not change an order from left to
// right, and that with other orders they are filled one after another.
func TestWindows(t *testing.T) {
	net := newHashNet(false)
	run := func(o catalog.Options) map[uint64]samplers.Result {
		t.Helper()
		cfg := net.config(mustNew(t, o), 4)
		at := make(map[uint64]int)
		cfg.OnStep = func(s samplers.Step) {
			for _, l := range s.Positions {
				if b := o.BlockLength; b > 0 && o.PromptLength != nil {
					if l/b < at[s.Index] {
						t.Errorf("%+v: sequence %d: position %d after block %d", o, s.Index, l, at[s.Index])
					}
					at[s.Index] = l / b
				}
			}
		}
		out, _ := collect(t, net, slices.Values(mixed()), cfg)
		return out
	}
	for _, o := range []catalog.Options{{}, {Lookahead: 4}, {Sampler: "ordered"}, {Sampler: "tweedie", Steps: 5}, {Sampler: "parallel-fhs", Steps: 3}, {Sampler: "remdm", Steps: 7}} {
		plain := run(o)
		o.LayerOptions = catalog.LayerOptions{BlockLength: 99}
		if !sameIDs(run(o), plain) {
			t.Errorf("%+v: one block is not the canvas", o)
		}
		o.LayerOptions = catalog.LayerOptions{BlockLength: 2, PromptLength: new(int)}
		if same := sameIDs(run(o), plain); same != (o.Sampler == "ordered") {
			t.Errorf("%+v: blocks change nothing: %t", o, same)
		}
	}
}

// TestLeftmost checks that calls with the score leftmost reveal the first masks, as many as SDAR's
// sequential rule.
func TestLeftmost(t *testing.T) {
	net := newHashNet(false)
	s, err := catalog.New(catalog.Options{Sampler: "confidence", Steps: 6, Cache: "none", RankOptions: catalog.RankOptions{Score: rank.ByLeftmost}}, blockNet{net}.Spec())
	reftest.OK(t, err)
	var got [][]int
	cfg := net.config(s, 1)
	cfg.OnStep = func(s samplers.Step) { got = append(got, slices.Sorted(slices.Values(s.Positions))) }
	canvas := append([]int{1, 1, 1}, slices.Repeat([]int{net.mask}, 13)...)
	reftest.Must(samplers.Sample(t.Context(), blockNet{net}, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(samplers.Result) error { return nil }))(t)
	if want := "[[3 4 5] [6 7] [8 9 10] [11 12 13] [14 15]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// blockNet is a network with blocks of 8 positions, whose rows here depend on all.
type blockNet struct{ *hashNet }

func (n blockNet) Spec() samplers.Spec {
	s := n.hashNet.Spec()
	s.BlockSize = 8
	return s
}

// TestQuotasOfABlock checks that a block-causal network's calls commit shares of whole blocks, like
// SDAR's, while others commit shares of the masks, and that a sampler's expected calls are those
// that it makes.
func TestQuotasOfABlock(t *testing.T) {
	net := newHashNet(false)
	for _, test := range []struct {
		network       samplers.Network
		begun, ragged []int
	}{{blockNet{net}, []int{3, 2, 3, 3, 2}, []int{4, 4, 4, 4, 4}}, {net, []int{2, 2, 1, 3, 3, 2}, []int{4, 4, 4, 4, 2, 2}}} {
		s, err := catalog.New(catalog.Options{Sampler: "confidence", Steps: 6, Cache: "none", LayerOptions: catalog.LayerOptions{BlockLength: 8, PromptLength: new(int)}}, test.network.Spec())
		reftest.OK(t, err)
		run := func(canvas []int) (tokens []int) {
			cfg := net.config(s, 1)
			cfg.OnStep = func(s samplers.Step) { tokens = append(tokens, len(s.Positions)) }
			reftest.Must(samplers.Sample(t.Context(), test.network, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(samplers.Result) error { return nil }))(t)
			return tokens
		}
		masks := slices.Repeat([]int{net.mask}, 20)
		begun, ragged := run(append([]int{1, 1, 1}, masks[:13]...)), run(masks)
		calls, _, err := s.ExpectedCalls(20)
		reftest.OK(t, err)
		if !slices.Equal(begun, test.begun) || !slices.Equal(ragged, test.ragged) || calls != float64(len(ragged)) {
			t.Errorf("blocks of %d: %v and %v tokens a call, want %v and %v; %g calls", test.network.Spec().BlockSize, begun, ragged, test.begun, test.ragged, calls)
		}
	}
}
