package certificate_test

import (
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// timeFree are the reference worlds without time.
var timeFree = []string{"xor3-mixed", "theorem5-point3", "markov3-exact", "markov4-sharp", "dirichlet3-noisy", "nested3-exact", "pairs4-exact", "parity4-exact"}

// distances returns TV and KL between a sampler's law and first-hitting's.
func distances(t testing.TB, w *laws.World, s *catalog.Sampler) (p pair) {
	t.Helper()
	states := reftest.Must(w.SamplerLaw(s))(t)
	fhs, law := w.FHSLaw(), w.OnSequences(states)
	for x := range fhs {
		p.tv += max(0, fhs[x]-law[x])
	}
	p.kl = laws.KL(fhs, law)
	return p
}

// TestBounds enumerates both sides: the bounds' expectations over orders, plans and texts, and the
// samplers' laws. Each bound is at least the previous one, and all are between the distance and the
// collision bound.
func TestBounds(t *testing.T) {
	compared := 0
	for _, name := range timeFree {
		t.Run(name, func(t *testing.T) {
			file, w := lawstest.Open(t, name)
			all := newEnumerator(w)
			for _, o := range settings(w.D) {
				s := lawstest.NewFor(t, o, file.Spec())
				is, e := distances(t, w, s), all.of(t, s)
				apart := reftest.Must(s.Collision(w.D))(t)
				rising := func(x ...float64) bool {
					for i := 1; i < len(x); i++ {
						if !(x[i-1] <= x[i]+1e-12) {
							return false
						}
					}
					return true
				}
				if !rising(is.tv, e.order.tv, e.plan.tv, e.blocks.tv) || !rising(e.plan.tv, -math.Expm1(apart)) || !rising(is.kl, e.order.kl, e.plan.kl) || !rising(e.order.kl, -apart) || !rising(e.order.tv*e.order.tv, e.order.kl/2) {
					t.Errorf("%s %v: %+v, bounds %+v, collision %v", s, o.Finish, is, e, apart)
				}
				compared++
			}
		})
	}
	t.Logf("%d laws", compared)
}

// TestEqual checks the cases of equality: a network whose positions are independent, one position a
// call in a uniform order, and a single call on a network whose rows are the conditionals of one
// law.
func TestEqual(t *testing.T) {
	file, w := lawstest.Open(t, "theorem5-point3")
	all := newEnumerator(w)
	for _, o := range settings(w.D) {
		s := lawstest.NewFor(t, o, file.Spec())
		is, e := distances(t, w, s), all.of(t, s)
		if math.Abs(is.tv-e.blocks.tv) > 1e-12 || math.Abs(is.kl-e.plan.kl) > 1e-12 {
			t.Errorf("%s: %+v, bounds %+v", s, is, e)
		}
	}
	for _, name := range timeFree {
		file, w := lawstest.Open(t, name)
		all := newEnumerator(w)
		for _, o := range []catalog.Options{{}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}, {Sampler: "parallel-fhs", Steps: w.D}} {
			if e := all.of(t, lawstest.NewFor(t, o, file.Spec())); e.blocks.tv > 1e-12 || e.plan.kl > 1e-12 {
				t.Errorf("%s %+v: %+v", name, o, e)
			}
		}
		once := lawstest.NewFor(t, catalog.Options{Sampler: "parallel-fhs", Steps: 1}, file.Spec())
		is, e := distances(t, w, once), all.of(t, once)
		if strings.HasSuffix(name, "-exact") && (math.Abs(is.tv-e.plan.tv) > 1e-12 || math.Abs(is.kl-e.plan.kl) > 1e-12) {
			t.Errorf("%s in one call: %+v, bounds %+v", name, is, e)
		}
	}
}
