package laws

import (
	"context"
	"math"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// mostOutcomes bounds the ways of drawing tokens that are gone through for the law of a
// sampler without a plan: some ten seconds. Six positions of three tokens take at most 50,000 where one
// is revealed a call.
const mostOutcomes = 2_000_000

// unplannedLaw is the law over states of a sampler without a plan, from its outcomes.
func (w *World) unplannedLaw(s *catalog.Sampler) ([]float64, error) {
	canvas := make([]int, w.D)
	for l := range canvas {
		canvas[l] = w.V
	}
	all, _, err := s.Outcomes(context.Background(), network{w}, canvas, mostOutcomes)
	if err != nil {
		return nil, err
	}
	law := make([]float64, w.States)
	for _, x := range all {
		state := 0
		for _, id := range x.IDs {
			state = state*(w.V+1) + id
		}
		law[state] += x.P
	}
	return law, nil
}

// network is a world as samplers see it.
type network struct{ *World }

func (n network) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: n.V, Mask: n.V}, TimeConditioned: n.Timed(), InfiniteSigma: true}
}

func (n network) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	var out []float32
	rest := c.Positions
	for r, wanted := range c.Counts {
		state := 0
		for _, id := range c.IDs[r*n.D : (r+1)*n.D] {
			state = state*(n.V+1) + int(id)
		}
		var lambda float64
		if c.Sigma != nil {
			lambda = -math.Expm1(-c.Sigma[r])
		}
		rows := n.Rows(lambda)
		for _, l := range rest[:wanted] {
			for _, p := range n.Row(rows, state, int(l)) {
				out = append(out, float32(math.Log(p)))
			}
		}
		rest = rest[wanted:]
	}
	return out, nil
}
