package bound

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"mdmgen/analysis/laws"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// proposition3Times are the forward times at which Proposition 3 is looked at.
var proposition3Times = []float64{0.05, 0.3, 1, 3}

// proposition3 adds what the first-hitting sampler shares with the true reverse chain, reveal
// times and positions, and that tokens are all in which they differ.
func (l *worldLines) proposition3(w *laws.World) {
	times, positions := newFarthest(), newFarthest()
	for _, t := range proposition3Times {
		lambda := -math.Expm1(-t)
		atLeast := make([]float64, w.D+2)
		sets := make([]float64, 1<<w.D)
		for x, q := range w.Marginal(t) {
			set := 0
			for i := range w.D {
				if w.Token(x, i) == w.V {
					set |= 1 << i
				}
			}
			sets[set] += q
			for k := range w.Masks(x) + 1 {
				atLeast[k] += q
			}
		}
		for k := 1; k <= w.D; k++ {
			times.see(atLeast[k], mathext.RegIncBeta(float64(k), float64(w.D-k+1), lambda))
		}
		for set, q := range sets {
			m := 0
			for rest := set; rest != 0; rest &= rest - 1 {
				m++
			}
			positions.see(q, math.Pow(lambda, float64(m))*math.Exp(-t*float64(w.D-m)))
		}
	}
	l.equal("proposition3.times", fmt.Sprintf("Proposition 3: P(at least k masked at t) under q_t = P(λ_(k) ≤ λ), the k-th hitting λ_(k) ~ Beta(k, d−k+1); shown is the case farthest apart of k ≤ d at %d times", len(proposition3Times)),
		"probability", times.left, times.right, exactTolerance)
	l.equal("proposition3.positions", "Proposition 3: P(the masked positions are A at t) under q_t = λ^|A|·α^(d−|A|), so that positions are hit in uniform order; shown is the case farthest apart of all A",
		"probability", positions.left, positions.right, exactTolerance)
	l.equal("proposition3.tokens", "Proposition 3: TV(q0, first-hitting with the posterior for μ) = 0: nothing but the token's law differs from the true chain", "TV",
		laws.TV(w.Q0, posteriorWorld(w).FHSLaw()), 0, exactTolerance)
	s, err := catalog.New(catalog.Options{}, samplers.Spec{})
	if err != nil {
		panic("bound: " + err.Error()) // the default sampler
	}
	calls, _, err := s.ExpectedCalls(w.D)
	if err != nil {
		panic("bound: " + err.Error())
	}
	l.equal("proposition3.calls", "network calls of first-hitting = d, always", "calls", calls, float64(w.D), exactTolerance)
}

// posteriorWorld is the world with its posterior for μ, uniform where that does not exist.
func posteriorWorld(w *laws.World) *laws.World {
	mu := make([]float64, w.States*w.D*w.V)
	for x := range w.States {
		for i := range w.D {
			row := mu[(x*w.D+i)*w.V : (x*w.D+i+1)*w.V]
			if p, ok := w.Posterior(x, i); ok {
				copy(row, p)
				continue
			}
			for a := range row {
				row[a] = 1 / float64(w.V)
			}
		}
	}
	return laws.FromTables(w.D, w.V, w.Q0, mu, nil, 0, 0)
}

// farthest is the case of an identity whose sides are farthest apart, the first of those that
// differ by rounding, which is another on other machines.
type farthest struct{ left, right, apart float64 }

func newFarthest() *farthest { return &farthest{apart: -1} }

func (f *farthest) see(left, right float64) {
	if apart := math.Abs(left - right); apart > f.apart+rounding {
		f.left, f.right, f.apart = left, right, apart
	}
}
