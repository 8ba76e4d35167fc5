package oracle

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/model/world"
)

// parallelLaw returns the law over sequences of parallel first-hitting sampling (Zheng et al.,
// arXiv 2409.02908, Algorithm 2): blocks of the given sizes in uniform order, one call per block,
// queried at the hitting fraction λ_n of the block's first reveal, with independent tokens in a
// block. With m_n masks at the start of block n
//
//	λ_1 ~ Beta(d,1),  λ_{n+1} = λ_n·β,  β ~ Beta(m_{n+1}, L_n),
//	H_B(λ) = Σ_{C⊆B, |C|=L_n} Π_{l∈C} μ^l(x_l | B masked, λ)·E H_{B∖C}(λβ) / C(m_n,L_n).
//
// H_B is a polynomial in λ^p, so that the moments E β^(pk) suffice. It panics if the sizes do not
// sum to D.
func parallelLaw(w *laws.World, file *world.World, sizes []int) []float64 {
	checkSizes(sizes, w.D)
	r := parallelBlocks{World: w}
	r.mu0, r.mu1, r.c, r.p = file.Mixture()
	out := make([]float64, w.Sequences)
	for i := range out {
		out[i] = r.probability(fullState(w, i), sizes)
	}
	return out
}

// parallelBlocks is a world with its tables.
type parallelBlocks struct {
	*laws.World
	mu0, mu1 []float64
	c, p     float64
}

// order returns the number of coefficients with n masked positions.
func (w *parallelBlocks) order(n int) int {
	if w.mu1 == nil {
		return 1
	}
	return n + 1
}

func (w *parallelBlocks) probability(x int, sizes []int) float64 {
	full := 1<<w.D - 1
	// h[B] holds the coefficients of E H_B(λβ) in λ^(pk), with λ the first hit of the previous
	// block.
	h := make([][]float64, full+1)
	h[0] = []float64{1}
	masked := 0
	for n := len(sizes) - 1; n >= 0; n-- {
		size := sizes[n]
		masked += size
		before := 1 // the first hit of d uniforms is 1·Beta(d,1)
		if n > 0 {
			before = sizes[n-1]
		}
		for b := range h {
			if state := hideAll(w.World, x, b); lawstest.Masks(w.Space, state) == masked {
				h[b] = w.block(x, b, size, h)
				for k := range h[b] {
					h[b][k] *= betaMoment(float64(masked), float64(before), w.p*float64(k)) / float64(combin.Binomial(masked, size))
				}
			}
		}
	}
	var s laws.Sum
	for _, c := range h[full] {
		s.Add(c)
	}
	return s.Value()
}

// block returns the coefficients of Σ_C Π_{l∈C} μ^l·h[B∖C].
func (w *parallelBlocks) block(x, b, size int, h [][]float64) []float64 {
	state := hideAll(w.World, x, b)
	out := make([]float64, w.order(lawstest.Masks(w.Space, state)))
	var choose func(l, rest, left int, product []float64)
	choose = func(l, rest, left int, product []float64) {
		if left == 0 {
			for i, p := range product {
				for k, q := range h[rest] {
					out[i+k] += p * q
				}
			}
			return
		}
		if l == w.D {
			return
		}
		choose(l+1, rest, left, product)
		if b>>l&1 == 0 {
			return
		}
		at := (state*w.D+l)*w.V + w.Token(x, l)
		next := make([]float64, len(product)+w.order(1)-1)
		for i, p := range product {
			next[i] += p * w.mu0[at]
			if w.mu1 != nil {
				next[i+1] += p * w.c * (w.mu1[at] - w.mu0[at])
			}
		}
		choose(l+1, rest&^(1<<l), left-1, next)
	}
	choose(0, b, size, []float64{1})
	return out
}

// betaMoment returns E β^s for β ~ Beta(a,b).
func betaMoment(a, b, s float64) float64 {
	if s == 0 {
		return 1
	}
	lg := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	return math.Exp(lg(a+s) - lg(a) + lg(a+b) - lg(a+b+s))
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
