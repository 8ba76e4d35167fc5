package laws

import "slices"

// EntropyBounded is entropy-bounded unmasking (Ben-Hamu et al., arXiv 2505.24857): a call sorts the masked positions
// by the entropy of their rows, ties by position, and reveals the longest prefix whose entropies but for the
// largest sum to at most gamma, in nats, and at least one. The network is asked at λ = m/d with m of d positions
// masked. It returns the law over sequences and the expected number of calls.
func (w *World) EntropyBounded(gamma float64) ([]float64, float64) {
	law := w.start()
	var calls Sum
	jump := make([]float64, w.D*w.V)
	for m := w.D; m > 0; m-- {
		rows := w.Rows(float64(m) / float64(w.D))
		for x, q := range law {
			if q == 0 || w.masks[x] != m {
				continue
			}
			calls.Add(q)
			clear(jump)
			for _, l := range w.entropyPrefix(rows, x, gamma) {
				copy(jump[l*w.V:(l+1)*w.V], row(rows, w, x, l))
			}
			w.visit(jump, x, q, func(y int, q float64) {
				if w.masks[y] < m {
					law[y] += q
				}
			})
		}
	}
	return w.OnSequences(law), calls.Value()
}

// EntropyBoundedReplay is the same sampler's probability of one sequence: which positions a
// call reveals follows from the canvas, so that there is one way to it.
func (w *World) EntropyBoundedReplay(sequence int, gamma float64) float64 {
	x, p := w.clean[sequence], 1.0
	for state := w.AllMask(); w.masks[state] > 0; {
		rows := w.Rows(float64(w.masks[state]) / float64(w.D))
		next := state
		for _, l := range w.entropyPrefix(rows, state, gamma) {
			a := w.Token(x, l)
			p *= row(rows, w, state, l)[a]
			next = w.Reveal(next, l, a)
		}
		state = next
	}
	return p
}

// entropyTie is how close two entropies must be to count as equal: rows that are the
// same up to the order of their tokens differ by rounding.
const entropyTie = 1e-12

// entropyPrefix is the positions that a call on state reveals.
func (w *World) entropyPrefix(rows []float64, state int, gamma float64) []int {
	var positions []int
	entropy := make([]float64, w.D)
	w.masked(state, func(l int) {
		positions = append(positions, l)
		entropy[l] = Entropy(row(rows, w, state, l))
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
