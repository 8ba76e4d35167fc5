package oracle

import (
	"math/bits"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/laws"
	"mdmgen/samplers/draw"
)

// blockLaw returns the law over sequences of a sampler that reveals blocks of the given sizes in
// uniform order, one call per block, queried at λ = m/d with m of d positions masked. Tokens of a
// block are independent given the canvases of the block and of the previous one: those of block n
// are drawn from max((1+w)·p − w·p′, floor·p), normalised ([draw.Mix]), with w = weights[n], p the
// row of this call and p′ that of the previous one; w = 0 is the plain draw.
// With m the mixture's probability
//
//	g(A,B) += g(A′,A)·Π_{l∈B∖A} m^l(x_l|x_A,x_A′) / C(masked,|B∖A|),
//
// over pairs of subsets. It panics if the sizes do not sum to D or one is below 1.
func blockLaw(w *laws.World, sizes []int, weights []float64, floor float64) []float64 {
	checkSizes(sizes, w.D)
	tables := make([][]float64, len(sizes))
	masked := w.D
	for n, size := range sizes {
		tables[n] = w.Rows(float64(masked) / float64(w.D))
		masked -= size
	}
	out := make([]float64, w.Sequences)
	for i := range out {
		out[i] = blockProbability(w, fullState(w, i), sizes, tables, weights, floor)
	}
	return out
}

func checkSizes(sizes []int, d int) {
	sum := 0
	for _, n := range sizes {
		if n < 1 {
			panic("a block of no positions")
		}
		sum += n
	}
	if sum != d {
		panic("sizes do not sum to the number of positions")
	}
}

// blockProbability computes the recursion for the sequence with state x. Subsets are bit sets of
// visible positions.
func blockProbability(w *laws.World, x int, sizes []int, tables [][]float64, weights []float64, floor float64) float64 {
	full := 1<<w.D - 1
	type pair struct{ before, now int }
	g := map[pair]float64{{0, 0}: 1}
	order := []pair{{0, 0}}
	for n, size := range sizes {
		next := make(map[pair]float64)
		var nextOrder []pair
		for _, at := range order {
			done := blockFrom(w, x, at.before, at.now, n, size, tables, weights[n], floor)
			for set, p := range done {
				if p == 0 {
					continue
				}
				to := pair{at.now, set}
				if _, seen := next[to]; !seen {
					nextOrder = append(nextOrder, to)
				}
				next[to] += g[at] * p
			}
		}
		g, order = next, nextOrder
	}
	var s laws.Sum
	for _, at := range order {
		if at.now == full {
			s.Add(g[at])
		}
	}
	return s.Value()
}

// blockFrom returns, by the set of visible positions after the block, the probability that block n
// reveals exactly those positions of the sequence, with its tokens.
func blockFrom(w *laws.World, x, before, now, n, size int, tables [][]float64, weight, floor float64) []float64 {
	full := 1<<w.D - 1
	state, was := hideAll(w, x, full&^now), hideAll(w, x, full&^before)
	out := make([]float64, full+1)
	out[now] = 1 / float64(combin.Binomial(w.Masks(state), size))
	fill := make([]float64, w.V)
	for l := range w.D {
		if now>>l&1 == 1 {
			continue
		}
		copy(fill, w.Row(tables[n], state, l))
		if weight != 0 {
			draw.Mix(fill, fill, w.Row(tables[n-1], was, l), weight, floor)
		}
		for set := full; set >= 0; set-- {
			if out[set] > 0 && set>>l&1 == 0 {
				out[set|1<<l] += out[set] * fill[w.Token(x, l)]
			}
		}
	}
	for set := range out {
		if bits.OnesCount(uint(set&^now)) != size {
			out[set] = 0
		}
	}
	return out
}

// fullState returns the state of a sequence.
func fullState(w *laws.World, sequence int) int {
	state := w.AllMask()
	for l, a := range w.Sequence(sequence) {
		state = w.Reveal(state, l, a)
	}
	return state
}

// hideAll masks the positions of a bit set.
func hideAll(w *laws.World, state, set int) int {
	for l := range w.D {
		if set>>l&1 == 1 {
			state = w.Hide(state, l)
		}
	}
	return state
}
