package layer_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// certain is a network of four tokens that rules out token 0 after token 3, token 1 after MASK, and
// all but token 1 after token 2.
type certain struct{}

func (certain) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 4, Mask: 4}}
}

func (certain) Logits(_ context.Context, c samplers.Call) (out []float32, _ error) {
	for i := range c.Counts {
		row := []float32{0, 1, 0.5, 0.2}
		never := map[int64][]int{2: {0, 2, 3}, 3: {0}, 4: {1}}
		for _, a := range never[c.IDs[i*c.Length()]] {
			row[a] = float32(math.Inf(-1))
		}
		out = append(out, row...)
	}
	return out, nil
}

// TestGuidanceOfImpossible checks that a token that is impossible on either canvas is impossible
// under guidance.
func TestGuidanceOfImpossible(t *testing.T) {
	for _, w := range []float64{-1, -0.5, 0.5, 2} {
		s := lawstest.NewFor(t, catalog.Options{LayerOptions: catalog.LayerOptions{Guidance: w}}, certain{}.Spec())
		counts := make([]int, 4)
		if _, err := samplers.Sample(t.Context(), certain{}, samplers.Copies([]int{3, 4}, 0, 200), samplers.Config{Method: s}, func(r samplers.Result) error {
			counts[r.IDs[1]]++
			return nil
		}); err != nil || counts[0]+counts[1] > 0 || counts[2] == 0 || counts[3] == 0 {
			t.Errorf("guidance %v: %v of each token, error %v", w, counts, err)
		}
		reftest.Fails(t, reftest.Err(samplers.Fill(t.Context(), certain{}, []int{2, 4}, s, 1)), "every token has probability 0 on one of the two canvases: leave guidance out", "no token is possible on both", w)
	}
}

// TestGuidanceOfNothing checks that guidance has no effect if nothing is visible, so that both
// canvases are equal.
func TestGuidanceOfNothing(t *testing.T) {
	net := lawstest.NewHashNet(false)
	seqs := []samplers.Sequence{{Canvas: slices.Repeat([]int{6}, 9)}, {Index: 1, Canvas: []int{1, 6, 6, 6, 6}}}
	plain, _ := lawstest.Collect(t, net, slices.Values(seqs), lawstest.Config(lawstest.New(t, catalog.Options{Sampler: "factor"}), 1))
	guided, _ := lawstest.Collect(t, net, slices.Values(seqs), lawstest.Config(lawstest.New(t, catalog.Options{Sampler: "factor", LayerOptions: catalog.LayerOptions{Guidance: 2}}), 1))
	kept, _ := lawstest.Collect(t, net, slices.Values(seqs), lawstest.Config(lawstest.New(t, catalog.Options{Sampler: "factor", LayerOptions: catalog.LayerOptions{Guidance: 2, KeepTokens: "1"}}), 1))
	if !lawstest.SameIDs(kept, plain) {
		t.Errorf("guidance that masks nothing: %v, without it %v", kept, plain)
	}
	if !slices.Equal(plain[0].IDs, guided[0].IDs) || slices.Equal(plain[1].IDs, guided[1].IDs) {
		t.Errorf("without guidance %v and %v, with it %v and %v", plain[0].IDs, plain[1].IDs, guided[0].IDs, guided[1].IDs)
	}
}
