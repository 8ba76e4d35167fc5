package laws_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
)

// TestIdentities checks on random worlds, as package bound does on the reference worlds, the
// identities of every world: laws sum to 1, Proposition 2, the four forms of the NELBO, Theorem 4
// with its chain of inequalities, also pointwise.
func TestIdentities(t *testing.T) {
	check := func(t *testing.T, w *laws.World) {
		fhs, nelbo := w.FHSLaw(), w.NELBO()
		if got := floats.SumCompensated(fhs); !reftest.Near(got, 1, 1e-12) {
			t.Errorf("FHS's law sums to %v", got)
		}
		for form, x := range map[string]float64{"t": nelbo.ContinuousT, "λ": nelbo.Lambda, "k": nelbo.KSubsets, "orders": nelbo.AnyOrder} {
			if !reftest.Near(x, nelbo.Expected, 1e-11) {
				t.Errorf("NELBO by %s is %v, by sequences %v", form, x, nelbo.Expected)
			}
		}
		p2 := w.Proposition2()
		if want := nelbo.Expected - p2.EntropySum; !reftest.Near(p2.ScoreEntropyIntegral, want, 1e-11) {
			t.Errorf("∫L_SE is %v, E[NELBO] − Σ is %v", p2.ScoreEntropyIntegral, want)
		}
		if h := laws.Entropy(w.Q0); !reftest.Near(p2.EntropySum, h, 1e-12) {
			t.Errorf("the entropy terms sum to %v, H(q0) is %v", p2.EntropySum, h)
		}
		t4 := w.Theorem4(nelbo)
		if t4.Epsilon-t4.KL < -1e-12 || t4.KL < -1e-12 {
			t.Errorf("Theorem 4: KL %v, ε″ %v", t4.KL, t4.Epsilon)
		}
		if tv := laws.TV(w.Q0, fhs); tv > math.Sqrt(max(t4.Epsilon, 0)/2)+1e-7 {
			t.Errorf("TV is %v, Pinsker allows %v", tv, math.Sqrt(t4.Epsilon/2))
		}
		for x, bound := range nelbo.BySequence {
			if bound < -math.Log(fhs[x])-1e-12 {
				t.Errorf("sequence %d: NELBO %v is below −log P_FHS %v", x, bound, -math.Log(fhs[x]))
			}
		}
		if t4.Epsilon > 1e-9 && t4.Epsilon <= t4.KL {
			t.Errorf("a wrong μ with KL = ε″: %+v", t4)
		}
		checkGrids(t, w)
	}
	for seed := range uint64(6) {
		check(t, lawstest.Random(seed, 2+int(seed%2), 2+int(seed/4), seed%2 == 1))
	}
}

// checkGrids checks that laws of grid samplers sum to 1, that the bounds hold, and both sides of
// Theorem 1.
func checkGrids(t *testing.T, w *laws.World) {
	for _, rule := range []schedule.Rule{schedule.RuleEuler, schedule.RuleTweedie, schedule.RuleTauOne, schedule.RuleTauAny} {
		s := lawstest.Steps(t, rule, schedule.GridSpec{Kind: schedule.GridPaper, T: 4, Delta: 0.02, Steps: 6})
		law := w.GridLaw(s)
		if a, b := floats.SumCompensated(law), floats.SumCompensated(w.Denoise(law, s.Grid.Lambda[6])); !reftest.Near(a, 1, 1e-12) || !reftest.Near(b, 1, 1e-12) {
			t.Errorf("%s: laws sum to %v and %v", rule, a, b)
		}
		masks := 0.0
		for x, p := range law {
			masks += p * float64(lawstest.Masks(w.Space, x))
		}
		if want := float64(w.D) * s.Left(); !reftest.Near(masks, want, 1e-12) {
			t.Errorf("%s: %v masks are left, want %v", rule, masks, want)
		}
		if rule != schedule.RuleEuler {
			continue
		}
		th := w.Theorem1(s)
		if th.FrozenTV > th.FrozenRHS+1e-12 || th.EulerTV > th.EulerRHS+1e-12 || th.LTV > th.LTVPinsker+1e-12 {
			t.Errorf("Theorem 1: %+v", th)
		}
	}
}

// TestFrozenExactScore checks that the frozen integral of the exact posterior does not depend on
// the data.
func TestFrozenExactScore(t *testing.T) {
	_, w := lawstest.Open(t, "markov3-exact")
	s := lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridUniform, T: 3, Delta: 0, Steps: 5})
	got := w.Theorem1(s).FrozenIntegral
	want := 0.0 // d·Σ r_k (e^η_k − 1 − η_k)
	for k, theta := range s.Grid.Theta[:5] {
		step := theta - s.Grid.Theta[k+1]
		want += float64(w.D) * (math.Expm1(step) - step) / math.Expm1(theta)
	}
	if !reftest.Near(got, want, 1e-12) {
		t.Errorf("frozen integral %v, closed form %v", got, want)
	}
}

// TestFHSLimit checks, with and without time, that the ancestral sampler on a fine grid has FHS's
// law up to 1/N, by extrapolation from two grids.
func TestFHSLimit(t *testing.T) {
	for _, timed := range []bool{false, true} {
		w := lawstest.Random(7, 3, 2, timed)
		fhs := w.FHSLaw()
		var at [2][]float64
		for i, n := range []int{512, 1024} {
			s := lawstest.Steps(t, schedule.RuleTweedie, schedule.GridSpec{Kind: schedule.GridLambda, T: math.Inf(1), Steps: n})
			at[i] = w.Denoise(w.GridLaw(s), s.Grid.Lambda[n])
		}
		for x := range fhs {
			if limit := 2*at[1][x] - at[0][x]; math.Abs(limit-fhs[x]) > 2e-5 {
				t.Errorf("timed %t, sequence %d: P_FHS %v, limit %v", timed, x, fhs[x], limit)
			}
		}
	}
}

func TestDistances(t *testing.T) {
	p, q := []float64{0.5, 0.5, 0}, []float64{0.25, 0.25, 0.5}
	if got := laws.TV(p, q); got != 0.5 {
		t.Errorf("TV is %v", got)
	}
	if got := laws.KL(p, q); !reftest.Near(got, math.Ln2, 1e-15) {
		t.Errorf("KL is %v", got)
	}
	if !math.IsInf(laws.KL(q, p), 1) {
		t.Error("KL to a law that excludes something is finite")
	}
	if got := laws.Entropy(p); !reftest.Near(got, math.Ln2, 1e-15) {
		t.Errorf("H is %v", got)
	}
	var s laws.Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.Add(x)
	}
	if s.Value() != 2 {
		t.Errorf("a sum is %v, want 2", s.Value())
	}
	if s.Add(math.Inf(1)); !math.IsInf(s.Value(), 1) {
		t.Errorf("a sum with +Inf is %v", s.Value())
	}
}

// TestTheorem5 checks that tables with a changed row in one context are not the construction.
func TestTheorem5(t *testing.T) {
	q0, mu := []float64{1, 0, 0, 0}, slices.Repeat([]float64{0.75, 0.25}, 9*2)
	for _, c := range []struct {
		entry int // of 9 states with 2 rows of 2, of which the last state is all-mask
		want  bool
	}{{-1, true}, {8*4 + 2, false}, {2*4 + 2, false}} {
		changed := slices.Clone(mu)
		if c.entry >= 0 {
			changed[c.entry], changed[c.entry+1] = 0.5, 0.5
		}
		if got, ok := laws.FromTables(2, 2, q0, changed, nil, 0, 0).Theorem5(); ok != c.want {
			t.Errorf("entry %d changed: %t, %+v", c.entry, ok, got)
		}
	}
}

// TestFHSNearOne uses rows that hardly depend on λ and not on tokens, so that probabilities are
// products, however small.
func TestFHSNearOne(t *testing.T) {
	const d = 5
	q0 := slices.Repeat([]float64{1. / 32}, 32)
	mu0, mu1 := slices.Repeat([]float64{1, 0}, 243*d), slices.Repeat([]float64{1e-12, 1 - 1e-12}, 243*d)
	for _, p := range []float64{0, 0.001, 0.5, 1, 3} {
		// E[λ^p] is 1/(1+p).
		one := (1 - 1e-12) / (1 + p)
		w := laws.FromTables(d, 2, q0, mu0, mu1, 1, p)
		zero := p/(1+p) + 1e-12/(1+p)
		for i, got := range w.FHSLaw() {
			want := 1.0
			for _, a := range w.Sequence(i) {
				want *= []float64{zero, one}[a]
			}
			if math.Abs(got/want-1) > 1e-12 {
				t.Errorf("p = %v, sequence %d: %v, want %v", p, i, got, want)
			}
		}
	}
}
