package laws

import "mdmgen/samplers"

// A Fill gives the probability of a token: now and before are the rows of this call and
// of the call before at the token's position, block counts blocks and i the tokens of the
// block, in the order in which they are revealed, from 0. In the first block before is
// nil.
type Fill func(now, before []float64, token, block, i int) float64

// PlainFill asks the row of this call.
func PlainFill(now, _ []float64, token, _, _ int) float64 { return now[token] }

// LookBackFill draws from max((1+w)·p − w·p′, floor·p), normalised: [samplers.Mix]. weight
// gives w; 0 is plain.
func LookBackFill(floor float64, weight func(block, i int) float64) Fill {
	return func(now, before []float64, token, block, i int) float64 {
		w := 0.0
		if before != nil {
			w = weight(block, i)
		}
		if w == 0 {
			return now[token]
		}
		mixed := make([]float64, len(now))
		samplers.Mix(mixed, now, before, w, floor)
		return mixed[token]
	}
}

// CountClock is the weight of extrapolation in the count clock, w = i/L_{n−1}.
func CountClock(sizes []int) func(block, i int) float64 {
	return func(block, i int) float64 { return float64(i) / float64(sizes[block-1]) }
}

// PairWeights are the weights of paired blocks (1,2), (3,4), …: in the second of a pair of sizes
// a and b it is (a+b)(a+b−1)/(2ab) − 1, by which the part of the pair interactions that the blocks
// lose is put back; 0 in the first and in a last block without a partner.
func PairWeights(sizes []int) []float64 {
	out := make([]float64, len(sizes))
	for n := 1; n < len(sizes); n += 2 {
		a, b := float64(sizes[n-1]), float64(sizes[n])
		out[n] = (a+b)*(a+b-1)/(2*a*b) - 1
	}
	return out
}

// BlockLaw is the law over sequences of a sampler that reveals blocks of the given sizes in
// uniform order, a call a block, asked at λ = m/d with m of d positions masked. Tokens of a block
// are independent given the canvases of the block and of the one before:
//
//	g(A,B) += g(A′,A)·Σ_orders of B∖A Π_i fill(μ(x_A), μ(x_A′), x^{l_i}) / (m(m−1)…),
//
// over pairs of subsets. It panics where the sizes do not sum to D or one is below 1.
func (w *World) BlockLaw(sizes []int, fill Fill) []float64 {
	checkSizes(sizes, w.D)
	tables := make([][]float64, len(sizes))
	masked := w.D
	for n, size := range sizes {
		tables[n] = w.Rows(float64(masked) / float64(w.D))
		masked -= size
	}
	out := make([]float64, w.Sequences)
	for i, x := range w.clean {
		out[i] = w.blockProbability(x, sizes, tables, fill)
	}
	return out
}

func checkSizes(sizes []int, d int) {
	sum := 0
	for _, n := range sizes {
		if n < 1 {
			panic("laws: a block of no positions")
		}
		sum += n
	}
	if sum != d {
		panic("laws: sizes do not sum to the number of positions")
	}
}

// blockProbability is the recursion for the sequence whose state is x. Subsets are bit
// sets of visible positions.
func (w *World) blockProbability(x int, sizes []int, tables [][]float64, fill Fill) float64 {
	full := 1<<w.D - 1
	type pair struct{ before, now int }
	g := map[pair]float64{{0, 0}: 1}
	order := []pair{{0, 0}}
	for n, size := range sizes {
		next := make(map[pair]float64)
		var nextOrder []pair
		for _, at := range order {
			done := w.blockFrom(x, at.before, at.now, n, size, tables, fill)
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
	var s Sum
	for _, at := range order {
		if at.now == full {
			s.Add(g[at])
		}
	}
	return s.Value()
}

// blockFrom gives, by set of visible positions after the block, the probability that block n
// reveals just those positions of the sequence, with its tokens.
func (w *World) blockFrom(x, before, now, n, size int, tables [][]float64, fill Fill) []float64 {
	full := 1<<w.D - 1
	state, was := w.hideAll(x, full&^now), w.hideAll(x, full&^before)
	masked := w.masks[state]
	level := make([]float64, full+1)
	level[now] = 1
	for i := range size {
		next := make([]float64, full+1)
		for l := range w.D {
			if now>>l&1 == 1 {
				continue
			}
			var prev []float64
			if n > 0 {
				prev = row(tables[n-1], w, was, l)
			}
			p := fill(row(tables[n], w, state, l), prev, w.Token(x, l), n, i) / float64(masked-i)
			for set, q := range level {
				if q > 0 && set>>l&1 == 0 {
					next[set|1<<l] += q * p
				}
			}
		}
		level = next
	}
	return level
}
