package laws

import (
	"errors"
	"fmt"

	"mdmgen/samplers"
)

// SamplerLaw is the exact law over states of a sampler on this world, at temperature 1 and
// without truncation, MASK left where it leaves positions masked: what a test of samples,
// or of a likelihood, compares with. It is an error where the sampler draws from another
// distribution, has no plan, or does not fit D positions.
func (w *World) SamplerLaw(s *samplers.Sampler) ([]float64, error) {
	set := s.Settings()
	if set.ChangesLaw {
		return nil, errors.New("laws: the sampler's draws are not from the network's distribution: leave temperature and truncation out")
	}
	if set.Scores == samplers.ScoresRaw {
		return nil, errors.New("laws: a world has no raw scores: normalise them")
	}
	if steps, ok := s.Steps(); ok {
		law := w.stepsLaw(steps, set)
		if s.Denoises() {
			law = w.step(law, w.Rows(steps.Grid.Lambda[steps.Grid.Steps()]), 1)
		}
		return law, nil
	}
	if set.Sampler == "fhs" {
		return w.OnStates(w.FHSLaw()), nil
	}
	blocks, err := w.oneplan(s)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(blocks))
	for n, b := range blocks {
		sizes[n] = len(b.Positions)
	}
	floor := 0.0
	if set.Floor != nil {
		floor = *set.Floor
	}
	switch set.Sampler {
	case "parallel-fhs":
		return w.OnStates(w.ParallelLaw(sizes)), nil
	case "extrapolated-fhs":
		return w.OnStates(w.BlockLaw(sizes, LookBackFill(floor, CountClock(sizes)))), nil
	case "paired-fhs":
		weights := PairWeights(sizes)
		return w.OnStates(w.BlockLaw(sizes, LookBackFill(floor, func(block, _ int) float64 { return weights[block] }))), nil
	case "ordered":
		return w.orderedLaw(blocks, samplers.Order(set.Order)), nil
	}
	return nil, fmt.Errorf("laws: no law of the sampler %q is known", set.Sampler)
}

// stepsLaw is the law of a sampler with a grid, masks left.
func (w *World) stepsLaw(steps samplers.Steps, set samplers.Settings) []float64 {
	g := steps.Grid
	switch steps.Rule {
	case samplers.RuleUniformization, samplers.RuleMATU:
		return w.ExactChain(g.Lambda[0], g.Lambda[g.Steps()])
	case samplers.RuleDMPM:
		law := w.start()
		for k, p := range steps.Jump {
			law = w.oneByOne(law, w.Rows(g.Lambda[k]), p, 1-p)
		}
		return law
	case samplers.RuleTrapezoidal:
		return w.TrapezoidLaw(steps, 0.5, *set.Floor)
	}
	return w.GridLaw(steps)
}

// oneplan is the blocks of one plan: sizes, and the times of ordered's, are those of every
// plan.
func (w *World) oneplan(s *samplers.Sampler) ([]samplers.Block, error) {
	free := make([]int, w.D)
	for l := range free {
		free[l] = l
	}
	var p samplers.Plan
	if err := s.Plan(&p, samplers.NewStream(1, 1), free); err != nil {
		return nil, fmt.Errorf("laws: %w", err)
	}
	return p.Blocks, nil
}

// orderedLaw reveals one position a call at the times of the blocks, in their order or,
// for a random one, in every order with equal chance.
func (w *World) orderedLaw(blocks []samplers.Block, order samplers.Order) []float64 {
	law := w.start()
	left := len(blocks)
	for _, b := range blocks {
		rows := w.Rows(b.Lambda)
		if order == samplers.RandomOrder {
			law = w.revealOne(law, rows)
			for x := range law {
				law[x] /= float64(left)
			}
			left--
			continue
		}
		law, _ = w.push(law, func(x int, jump []float64) {
			l := b.Positions[0]
			copy(jump[l*w.V:(l+1)*w.V], row(rows, w, x, l))
		})
	}
	return law
}
