package rank_test

import (
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
)

// TestLeftmost checks that calls with the score leftmost reveal the first masks, as many as SDAR's
// sequential rule.
func TestLeftmost(t *testing.T) {
	net := lawstest.NewHashNet(false)
	s := reftest.Must(catalog.New(catalog.Options{Sampler: "confidence", Steps: 6, Cache: "none", RankOptions: catalog.RankOptions{Score: rank.ByLeftmost}}, blockNet{net}.Spec()))(t)
	var got [][]int
	cfg := lawstest.Config(s, 1)
	cfg.OnStep = func(s samplers.Step) { got = append(got, slices.Sorted(slices.Values(s.Positions))) }
	canvas := append([]int{1, 1, 1}, slices.Repeat([]int{net.Mask}, 13)...)
	reftest.Must(samplers.Sample(t.Context(), blockNet{net}, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(samplers.Result) error { return nil }))(t)
	if want := "[[3 4 5] [6 7] [8 9 10] [11 12 13] [14 15]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// blockNet is a network with blocks of 8 positions, whose rows here depend on all.
type blockNet struct{ *lawstest.HashNet }

func (n blockNet) Spec() samplers.Spec {
	s := n.HashNet.Spec()
	s.BlockSize = 8
	return s
}

// TestQuotasOfABlock checks that a block-causal network's calls commit shares of whole blocks, like
// SDAR's, while others commit shares of the masks, and that a sampler's expected calls are those
// that it makes.
func TestQuotasOfABlock(t *testing.T) {
	net := lawstest.NewHashNet(false)
	for _, test := range []struct {
		network       samplers.Network
		begun, ragged []int
	}{{blockNet{net}, []int{3, 2, 3, 3, 2}, []int{4, 4, 4, 4, 4}}, {net, []int{2, 2, 1, 3, 3, 2}, []int{4, 4, 4, 4, 2, 2}}} {
		s := reftest.Must(catalog.New(catalog.Options{Sampler: "confidence", Steps: 6, Cache: "none", LayerOptions: catalog.LayerOptions{BlockLength: 8, PromptLength: new(int)}}, test.network.Spec()))(t)
		run := func(canvas []int) (tokens []int) {
			cfg := lawstest.Config(s, 1)
			cfg.OnStep = func(s samplers.Step) { tokens = append(tokens, len(s.Positions)) }
			reftest.Must(samplers.Sample(t.Context(), test.network, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(samplers.Result) error { return nil }))(t)
			return tokens
		}
		masks := slices.Repeat([]int{net.Mask}, 20)
		begun, ragged := run(append([]int{1, 1, 1}, masks[:13]...)), run(masks)
		calls, _, err := s.ExpectedCalls(20)
		reftest.OK(t, err)
		if !slices.Equal(begun, test.begun) || !slices.Equal(ragged, test.ragged) || calls != float64(len(ragged)) {
			t.Errorf("blocks of %d: %v and %v tokens a call, want %v and %v; %g calls", test.network.Spec().BlockSize, begun, ragged, test.begun, test.ragged, calls)
		}
	}
}
