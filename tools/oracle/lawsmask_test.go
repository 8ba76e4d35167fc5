package oracle

import (
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
)

// maskWorld is a law of data that may hold MASK, with a sampler that has the exact scores
// q_t(y)/q_t(x): the setting of the paper's Corollary 1 and Theorem 3. Here the score is not r(t)
// times a posterior, its total depends on the state, and Propositions 2 and 3 and Theorem 4 do not
// apply.
type maskWorld struct {
	laws.Space
	// Q0 [States] is the law of the data.
	Q0 []float64
	// hidden [States·(D+1)] is the mass of data with the state's visible tokens and j clean tokens
	// under its masks: q_t(x) = α^(d−m) Σ_j hidden_j λ^j.
	hidden []float64
}

// newMaskWorld returns the world of a law over (v+1)^d states, which it keeps. It panics if the
// length is wrong.
func newMaskWorld(d, v int, q0 []float64) *maskWorld {
	w := &maskWorld{Space: laws.NewSpace(d, v), Q0: q0}
	if len(q0) != w.States {
		panic("laws: a law has the wrong length")
	}
	w.hidden = make([]float64, w.States*(d+1))
	for x0, q := range q0 {
		if q > 0 {
			w.addHidden(x0, 0, 0, q)
		}
	}
	return w
}

// addHidden masks any of the clean positions from l on; j are masked already.
func (w *maskWorld) addHidden(x, l, j int, q float64) {
	for l < w.D && w.Token(x, l) == w.V {
		l++
	}
	if l == w.D {
		w.hidden[x*(w.D+1)+j] += q
		return
	}
	w.addHidden(x, l+1, j, q)
	w.addHidden(w.Hide(x, l), l+1, j+1, q)
}

// hiddenOf returns the coefficients of a state.
func (w *maskWorld) hiddenOf(x int) []float64 { return w.hidden[x*(w.D+1) : (x+1)*(w.D+1)] }

// Marginal returns the forward marginal q_t over states.
func (w *maskWorld) Marginal(t float64) []float64 {
	alpha, lambda := math.Exp(-t), -math.Expm1(-t)
	out := make([]float64, w.States)
	for x := range out {
		out[x] = math.Pow(alpha, float64(w.D-lawstest.Masks(w.Space, x))) * horner(w.hiddenOf(x), lambda)
	}
	return out
}

// score returns q_t(y)/q_t(x) for y = x⊕_l a; 0 if q_t(x) is 0.
func (w *maskWorld) score(x, y int, alpha, lambda float64) float64 {
	below := horner(w.hiddenOf(x), lambda)
	if below == 0 {
		return 0
	}
	return alpha * horner(w.hiddenOf(y), lambda) / below
}

// scores returns the table [States·D·V] of score at time t, 0 at visible positions.
func (w *maskWorld) scores(t float64) []float64 {
	alpha, lambda := math.Exp(-t), -math.Expm1(-t)
	out := make([]float64, w.States*w.D*w.V)
	for x := range w.States {
		w.EachMasked(x, func(l int) {
			for a := range w.V {
				out[(x*w.D+l)*w.V+a] = w.score(x, w.Reveal(x, l, a), alpha, lambda)
			}
		})
	}
	return out
}

// NoiseTime returns the time γ for which clean data were noised: a position's mask probability is
// 1−e^(−γ), which is computed from the first position.
func (w *maskWorld) NoiseTime() float64 {
	var s laws.Sum
	for x, q := range w.Q0 {
		if w.Token(x, 0) == w.V {
			s.Add(q)
		}
	}
	return -math.Log1p(-s.Value())
}

// Mode returns the tokens of the likeliest sequence without MASK.
func (w *maskWorld) Mode() []int {
	best := 0
	clean := w.OnSequences(w.Q0)
	for i, q := range clean {
		if q > clean[best] {
			best = i
		}
	}
	return w.Sequence(best)
}

// maskRun is the result of Euler with the exact score and of the paper's frozen rates on a grid,
// both from the all-mask state, with Theorem 1's right side.
type maskRun struct {
	TVInitial float64
	// EulerLaw [States] is Euler's law; LargestJump is the largest probability with which a step
	// changes a position, over states that the sampler can reach.
	EulerLaw                            []float64
	EulerTV, LargestJump                float64
	FrozenIntegral, FrozenRHS, FrozenTV float64
}

// Run runs both on forward times theta decreasing from T to δ; distances are from q_δ.
func (w *maskWorld) Run(theta []float64) maskRun {
	n := len(theta) - 1
	target := w.Marginal(theta[n])
	r := maskRun{TVInitial: w.InitialTV(theta[0])}
	euler, frozen := make([]float64, w.States), make([]float64, w.States)
	euler[w.AllMask()], frozen[w.AllMask()] = 1, 1
	var integral laws.Sum
	for k := range n {
		eta := theta[k] - theta[k+1]
		rates := w.scores(theta[k])
		euler = w.eulerStep(euler, rates, eta, &r.LargestJump)
		frozen = w.frozenStep(frozen, rates, eta)
		integral.Add(w.rateIntegral(rates, theta[k], theta[k+1]))
	}
	r.EulerLaw, r.EulerTV, r.FrozenTV = euler, laws.TV(target, euler), laws.TV(target, frozen)
	r.FrozenIntegral = integral.Value()
	r.FrozenRHS = r.TVInitial + r.FrozenIntegral
	return r
}

// InitialTV returns laws.TV(q_T, all-mask).
func (w *maskWorld) InitialTV(t float64) float64 {
	var s laws.Sum
	for x, q := range w.Marginal(t) {
		if x != w.AllMask() {
			s.Add(q)
		}
	}
	return s.Value()
}

// eulerStep changes each masked position to a with probability η·rate.
func (w *maskWorld) eulerStep(law, rates []float64, eta float64, largest *float64) []float64 {
	out := make([]float64, w.States)
	var spread func(from, to, l int, q float64)
	spread = func(from, to, l int, q float64) {
		for l < w.D && w.Token(from, l) != w.V {
			l++
		}
		if l == w.D {
			out[to] += q
			return
		}
		total := 0.0
		for a, r := range w.Row(rates, from, l) {
			if r > 0 {
				total += eta * r
				spread(from, w.Reveal(to, l, a), l+1, q*eta*r)
			}
		}
		*largest = max(*largest, total)
		spread(from, to, l+1, q*(1-total))
	}
	for x, q := range law {
		if q > 0 {
			spread(x, x, 0, q)
		}
	}
	return out
}

// frozenStep advances a law by time η of the CTMC with constant rates, by uniformization: e^(ηG) =
// Σ_n Poisson(n; Λη)·(I + G/Λ)^n.
func (w *maskWorld) frozenStep(law, rates []float64, eta float64) []float64 {
	exit := make([]float64, w.States)
	most := 0.0
	for x := range exit {
		for _, r := range rates[x*w.D*w.V : (x+1)*w.D*w.V] {
			exit[x] += r
		}
		most = max(most, exit[x])
	}
	out := make([]float64, w.States)
	if most == 0 {
		copy(out, law)
		return out
	}
	// The pieces are short enough that e^(−Λη) does not underflow.
	pieces := int(most*eta/50) + 1
	mean := most * eta / float64(pieces)
	for range pieces {
		clear(out)
		term, weight := law, math.Exp(-mean)
		for n := 1; ; n++ {
			for x, q := range term {
				out[x] += weight * q
			}
			if weight < 1e-30 && float64(n) > mean {
				break
			}
			next := make([]float64, w.States)
			for x, q := range term {
				if q == 0 {
					continue
				}
				next[x] += q * (1 - exit[x]/most)
				w.EachMasked(x, func(l int) {
					for a, r := range w.Row(rates, x, l) {
						next[w.Reveal(x, l, a)] += q * r / most
					}
				})
			}
			term = next
			weight *= mean / float64(n)
		}
		law = append([]float64(nil), out...)
	}
	return out
}

// rateIntegral returns ∫ E_{x∼q_t} Σ_y |rate(x,y) − q_t(y)/q_t(x)| dt over t from theta down to
// next, by panels on which the polynomials are smooth.
func (w *maskWorld) rateIntegral(rates []float64, theta, next float64) float64 {
	var sum laws.Sum
	for high := theta; high > next; {
		low := max(high-0.25, next)
		for x := range w.States {
			hidden := w.hiddenOf(x)
			visible := w.D - lawstest.Masks(w.Space, x)
			if horner(hidden, 1) == 0 {
				continue
			}
			w.EachMasked(x, func(l int) {
				for a, r := range w.Row(rates, x, l) {
					other := w.hiddenOf(w.Reveal(x, l, a))
					if r == 0 && horner(other, 1) == 0 {
						continue
					}
					sum.Add(laws.AbsoluteIntegral(func(t float64) float64 {
						alpha, lambda := math.Exp(-t), -math.Expm1(-t)
						return math.Pow(alpha, float64(visible)) * (r*horner(hidden, lambda) - alpha*horner(other, lambda))
					}, low, high))
				}
			})
		}
		high = low
	}
	return sum.Value()
}

// horner returns Σ_j c_j·x^j.
func horner(c []float64, x float64) (sum float64) {
	for j := len(c) - 1; j >= 0; j-- {
		sum = sum*x + c[j]
	}
	return sum
}
