package certificate_test

import (
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/quality"
)

// timeFree are the reference worlds without time.
var timeFree = []string{"xor3-mixed", "theorem5-point3", "markov3-exact", "markov4-sharp", "dirichlet3-noisy", "nested3-exact", "pairs4-exact", "parity4-exact"}

// TestBounds enumerates both sides: the bounds' expectations over orders, plans and texts,
// and the samplers' laws.
func TestBounds(t *testing.T) {
	compared, equal := 0, 0
	for _, name := range timeFree {
		t.Run(name, func(t *testing.T) {
			file, w := openWorld(t, name)
			fhs, all := w.FHSLaw(), newEnumerator(w)
			for _, o := range settings(w.D) {
				s := newSampler(t, o, file)
				states, err := w.SamplerLaw(s)
				if err != nil {
					t.Fatal(err)
				}
				law := w.OnSequences(states)
				var tv float64
				for x := range fhs {
					tv += max(0, fhs[x]-law[x])
				}
				kl := laws.KL(fhs, law)
				e, c := all.of(t, s), cleanMass(s, w.D)
				boundTV, blocks, boundKL := 1-c+c*e.tv, 1-c+c*e.blocks, e.kl-math.Log(c)
				apart, err := quality.Collision(s, w.D)
				if err != nil {
					t.Fatal(err)
				}
				const tol = 1e-12
				if !(tv <= boundTV+tol && boundTV <= blocks+tol && boundTV <= -math.Expm1(apart)+tol && kl <= boundKL+tol && e.tv <= math.Sqrt(e.kl/2)+tol) {
					t.Errorf("%s %v: TV %v ≤ %v ≤ blocks %v, collision %v; KL %v ≤ %v", s, o.Finish, tv, boundTV, blocks, -math.Expm1(apart), kl, boundKL)
				}
				compared++
				if math.Abs(tv-boundTV) <= tol {
					equal++
				}
			}
		})
	}
	t.Logf("%d laws, TV equal to the bound in %d", compared, equal)
}
