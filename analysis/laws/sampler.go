package laws

import (
	"errors"
	"fmt"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// SamplerLaw is the exact law over states of a sampler on this world, at temperature 1 and
// without truncation, MASK left where it leaves positions masked: what a test of samples,
// or of a likelihood, compares with. It is an error where the sampler draws from another
// distribution, or does not fit D positions. Of decoders without a plan it is the sum of all
// outcomes ([catalog.Sampler.Outcomes]), with temperature and all, from rows in float32. A
// sampler that is corrected has the law of the one without, after the corrections.
func (w *World) SamplerLaw(s *catalog.Sampler) ([]float64, error) {
	if err := Known(s); err != nil {
		return nil, err
	}
	if inner, positions, calls, ok := s.Correction(); ok {
		return w.correctedLaw(inner, positions, calls)
	}
	l, ok := s.Law()
	if !ok {
		return w.unplannedLaw(s)
	}
	if l.Steps != nil {
		law := w.stepsLaw(l)
		if s.Denoises() {
			law = w.OnStates(w.Denoise(law, l.Steps.Grid.Lambda[l.Steps.Grid.Steps()]))
		}
		return law, nil
	}
	if l.FirstHitting() {
		return w.OnStates(w.FHSLaw()), nil
	}
	blocks, err := w.oneplan(s)
	if err != nil {
		return nil, err
	}
	if l.OneByOne {
		return w.orderedLaw(blocks, l.Fixed), nil
	}
	sizes, err := l.Sizes(w.D)
	if err != nil {
		return nil, fmt.Errorf("laws: %w", err)
	}
	if !l.LookBack {
		return w.OnStates(w.ParallelLaw(sizes)), nil
	}
	weights := make([]float64, len(blocks))
	for n, b := range blocks {
		weights[n] = b.Weight
	}
	return w.OnStates(w.BlockLaw(sizes, weights, l.Floor)), nil
}

// Known says why [World.SamplerLaw] does not know a sampler's law on any world, nil where it may.
func Known(s *catalog.Sampler) error {
	set := s.Settings()
	inner, _, _, corrected := s.Correction()
	switch {
	case set.Scores == plan.ScoresRaw:
		return errors.New("laws: a world has no raw scores: normalise them")
	case (s.Planned() || corrected) && set.Draw.ChangesLaw(), set.By == draw.ByFloat32Gumbel:
		return fault.Errorf("laws", "%s draws from another distribution than the network's, which is worked out for decoders without corrections only: leave temperature, truncation, suppressed tokens and float32-gumbel out", s)
	case corrected:
		return Known(inner)
	case s.Planned():
		return nil
	}
	return s.HasOutcomes()
}

// stepsLaw is the law of a sampler with a grid, masks left.
func (w *World) stepsLaw(l samplers.Law) []float64 {
	steps := *l.Steps
	g := steps.Grid
	switch {
	case l.OneByOne && l.Clock == samplers.AtHit:
		return w.ExactChain(g.Lambda[0], g.Lambda[g.Steps()])
	case l.OneByOne:
		law := w.Start()
		for k, p := range steps.Jump {
			law = w.oneByOne(law, w.Rows(g.Lambda[k]), p, 1-p)
		}
		return law
	case l.LookBack:
		return w.TrapezoidLaw(steps, 0.5, l.Floor)
	}
	return w.GridLaw(steps)
}

// oneplan is the blocks of one plan: sizes, and the times of ordered's, are those of every
// plan.
func (w *World) oneplan(s *catalog.Sampler) ([]plan.Block, error) {
	free := make([]int, w.D)
	for l := range free {
		free[l] = l
	}
	var p plan.Plan
	if err := s.Plan(&p, draw.NewStream(1, 1), free); err != nil {
		return nil, fmt.Errorf("laws: %w", err)
	}
	return p.Blocks, nil
}

// orderedLaw reveals one position a call at the times of the blocks, in their order or,
// for a random one, in every order with equal chance.
func (w *World) orderedLaw(blocks []plan.Block, fixed bool) []float64 {
	law := w.Start()
	left := len(blocks)
	for _, b := range blocks {
		rows := w.Rows(b.Lambda)
		if !fixed {
			law = w.revealOne(law, rows)
			for x := range law {
				law[x] /= float64(left)
			}
			left--
			continue
		}
		law, _ = w.Push(law, func(x int, jump []float64) {
			l := b.Positions[0]
			copy(jump[l*w.V:(l+1)*w.V], w.Row(rows, x, l))
		})
	}
	return law
}
