package quality

import (
	"math"
	"slices"

	"mdmgen/analysis/theory"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Collision returns log p*, where p* is the probability that the path of a sampler over d free
// positions is one of first-hitting's, with the same token probabilities: every call reveals a
// single position, from the row of the previous state, in uniform order. For every network that is
// not time-conditioned and every text x
//
//	P_N(x) ≥ p*·P_FHS(x),  TV(P_FHS,P_N) ≤ 1 − p*,  KL(P_FHS‖P_N) ≤ −log p*,
//
// without a network call. It returns −Inf if there is no bound, and an error for orders that are
// not uniform: their law differs from first-hitting's whatever their blocks are.
//
//   - Grids: no two positions in a step ([theory.LogCollisionBound]); trapezoidal: no two in
//     both halves of a step together, since the second half looks back at the first.
//   - Parallel and paired FHS: blocks of one are plain draws; with any larger block there
//     is no such path.
//   - Uniformization, MATU and DMPM reveal one position a call in uniform order: p* is the
//     probability that no mask is left or, if a last call fills the rest, at most one.
func Collision(s *catalog.Sampler, d int) (float64, error) {
	if d < 1 {
		return 0, fault.Errorf("quality", "%d positions: must be at least 1", d)
	}
	law, ok := s.Law()
	steps := law.Steps
	switch {
	case !ok:
		return 0, fault.Errorf("quality", "%s has no plan: the network's rows, blocks, corrections, guidance or constraints decide what is drawn when, so it has no collision bound", s)
	case law.Fixed:
		return 0, fault.Errorf("quality", "%s: its order is not uniform, so it has no collision bound", s.Settings().Sampler)
	case steps == nil:
		return singleBlocks(law, d)
	case law.OneByOne:
		return leftApart(d, steps.Left(), s.Denoises()), nil
	case law.LookBack:
		whole := make([]float64, 0, len(steps.Reveal)/2+1)
		for k := 0; k < len(steps.Reveal); k += 2 {
			w := steps.Reveal[k]
			if k+1 < len(steps.Reveal) {
				w += steps.Reveal[k+1]
			}
			whole = append(whole, w)
		}
		return theory.LogCollisionBound(d, whole, steps.Left(), s.Denoises()), nil
	}
	return theory.LogCollisionBound(d, steps.Reveal, steps.Left(), s.Denoises()), nil
}

// singleBlocks returns the log of the probability that every block of d positions has one position,
// for samplers without a grid.
func singleBlocks(law samplers.Law, d int) (float64, error) {
	if law.Mix != nil {
		var p float64
		for sizes, q := range law.Mix(d) {
			if len(sizes) == d {
				p += q
			}
		}
		return math.Log(p), nil
	}
	sizes, err := law.Sizes(d)
	if err != nil {
		return 0, fault.Errorf("samplers", "%w", err)
	}
	if slices.ContainsFunc(sizes, func(n int) bool { return n > 1 }) {
		return math.Inf(-1), nil
	}
	return 0, nil
}

// leftApart returns the log of the probability that none of d positions, each left masked with the
// given probability, is left; or at most one, if a call fills the rest.
func leftApart(d int, left float64, denoised bool) float64 {
	n := float64(d)
	if !denoised {
		return n * math.Log1p(-left)
	}
	return (n-1)*math.Log1p(-left) + math.Log1p((n-1)*left)
}

// LogClean returns the log of the probability that a sampler leaves none of d positions masked.
func LogClean(s *catalog.Sampler, d int) float64 {
	steps, ok := s.Steps()
	if !ok || s.Denoises() {
		return 0
	}
	return float64(d) * math.Log1p(-steps.Left())
}
