package oracle

import (
	"slices"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
)

// entropyBounded computes entropy-bounded unmasking (Ben-Hamu et al., arXiv 2505.24857): a call
// sorts the masked positions by the entropy of their rows, ties by position, and reveals the
// longest prefix whose entropies, without the largest, sum to at most gamma, in nats, and at least
// one position. The network is queried at λ = m/d with m of d positions masked. It returns the law
// over sequences and the expected number of calls.
func entropyBounded(w *laws.World, gamma float64) ([]float64, float64) {
	law := w.Start()
	var calls laws.Sum
	jump := make([]float64, w.D*w.V)
	for m := w.D; m > 0; m-- {
		rows := w.Rows(float64(m) / float64(w.D))
		for x, q := range law {
			if q == 0 || lawstest.Masks(w.Space, x) != m {
				continue
			}
			calls.Add(q)
			clear(jump)
			for _, l := range entropyPrefix(w, rows, x, gamma) {
				copy(jump[l*w.V:(l+1)*w.V], w.Row(rows, x, l))
			}
			w.Visit(jump, x, q, func(y int, q float64) {
				if lawstest.Masks(w.Space, y) < m {
					law[y] += q
				}
			})
		}
	}
	return w.OnSequences(law), calls.Value()
}

// entropyBoundedReplay returns the same sampler's probability of one sequence. The canvas
// determines which positions a call reveals, so that only one path leads to the sequence.
func entropyBoundedReplay(w *laws.World, sequence int, gamma float64) float64 {
	tokens, p := w.Sequence(sequence), 1.0
	for state := w.AllMask(); lawstest.Masks(w.Space, state) > 0; {
		rows := w.Rows(float64(lawstest.Masks(w.Space, state)) / float64(w.D))
		next := state
		for _, l := range entropyPrefix(w, rows, state, gamma) {
			a := tokens[l]
			p *= w.Row(rows, state, l)[a]
			next = w.Reveal(next, l, a)
		}
		state = next
	}
	return p
}

// entropyTie is the difference up to which two entropies count as equal: for rows that are
// permutations of each other they differ by rounding.
const entropyTie = 1e-12

// entropyPrefix returns the positions that a call on state reveals.
func entropyPrefix(w *laws.World, rows []float64, state int, gamma float64) []int {
	var positions []int
	entropy := make([]float64, w.D)
	w.EachMasked(state, func(l int) {
		positions = append(positions, l)
		entropy[l] = laws.Entropy(w.Row(rows, state, l))
	})
	slices.SortStableFunc(positions, func(a, b int) int {
		switch diff := entropy[a] - entropy[b]; {
		case diff < -entropyTie:
			return -1
		case diff > entropyTie:
			return 1
		}
		return 0
	})
	taken := 0.0
	for n, l := range positions {
		if n > 0 && taken > gamma+entropyTie {
			return positions[:n]
		}
		taken += entropy[l]
	}
	return positions
}
