package certificate

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
)

// piece is a block of a sampler's plan: positions order[from:to] are revealed by one call, on
// the canvas on which from positions are revealed. A block that reveals nothing has from = to.
type piece struct {
	from, to int
	theta    float64
	// ahead, at least to, is where the rows end that the block asks for: the next block
	// looks back at some.
	ahead int
	// weights and floor are those of [samplers.Block], weights nil for a plain fill.
	weights []float64
	floor   float64
}

// weight is that of rank i, 0 for a plain draw.
func (p *piece) weight(i int) float64 {
	if p.weights == nil {
		return 0
	}
	return p.weights[i-p.from]
}

// cut makes pieces of the plan of a sampler for the free positions, drawn from the numbers
// that gave first-hitting its order. Where the sampler leaves masks, the plan is drawn given
// that it leaves none.
func cut(s *samplers.Sampler, d *samplers.Draws, free, order []int) ([]piece, error) {
	var p samplers.Plan
	var err error
	if s.Denoises() {
		err = s.Plan(&p, d, free)
	} else {
		_, err = s.PlanRevealed(&p, d, free)
	}
	if err != nil {
		return nil, err
	}
	var out []piece
	at := 0
	for _, b := range p.Blocks {
		to := at + len(b.Positions)
		if to > len(order) || !slices.Equal(b.Positions, order[at:to]) {
			return nil, fmt.Errorf("certificate: %s does not reveal in first-hitting's order", s)
		}
		ahead := to
		for _, l := range b.Ahead {
			ahead = max(ahead, slices.Index(order, l)+1)
		}
		out = append(out, piece{at, to, b.Theta, ahead, b.Weights, b.Floor})
		at = to
	}
	if at+len(p.Left) != len(order) {
		return nil, fmt.Errorf("certificate: the plan of %s has %d reveals and leaves %d of %d positions", s, at, len(p.Left), len(order))
	}
	if len(p.Left) > 0 {
		out = append(out, piece{from: at, to: len(order), theta: p.LeftTheta, ahead: len(order)})
	}
	return out, nil
}

// check refuses samplers that the bounds say nothing of.
func check(s *samplers.Sampler, d int) error {
	law, ok := s.Law()
	switch {
	case !ok:
		return fmt.Errorf("certificate: %s reveals what the network's rows say: it has no plan to set beside first-hitting's", s)
	case law.Fixed:
		return fmt.Errorf("certificate: %s: its order is not uniform, so that even one position a call has another law than first-hitting", s.Settings().Sampler)
	case law.Sizes != nil:
		if _, err := law.Sizes(d); err != nil {
			return fmt.Errorf("samplers: %w", err)
		}
	}
	return nil
}

// logClean is log of the probability that a sampler leaves none of d positions masked.
func logClean(s *samplers.Sampler, d int) float64 {
	steps, ok := s.Steps()
	if !ok || s.Denoises() {
		return 0
	}
	return float64(d) * math.Log1p(-steps.Left())
}
