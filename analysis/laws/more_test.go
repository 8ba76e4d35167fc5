package laws_test

import (
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/samplers"
)

func apart(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	return worst
}

func grid(t testing.TB, spec samplers.GridSpec) samplers.Grid {
	t.Helper()
	g, err := samplers.NewGrid(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func thetas(t testing.TB, list ...float64) samplers.Grid {
	return grid(t, samplers.GridSpec{Kind: samplers.GridThetaList, List: list})
}

// worlds are small random ones, every second of them time-conditioned.
func worlds(do func(name string, w *laws.World)) {
	for seed := range uint64(6) {
		timed := seed%2 == 1
		d, v := 2+int(seed%3), 2+int(seed/3)
		name := "time-free"
		if timed {
			name = "timed"
		}
		do(name, random(seed+40, d, v, timed))
	}
}

// TestLawsSumToOne: every sampler's law is one.
func TestLawsSumToOne(t *testing.T) {
	g := thetas(t, 4, 2, 0.7, 0.1)
	worlds(func(name string, w *laws.World) {
		total := func(what string, p []float64) {
			if got := total(p); !near(got, 1, 1e-12) {
				t.Errorf("%s, d = %d: %s sums to %v", name, w.D, what, got)
			}
			for _, x := range p {
				if x < 0 {
					t.Fatalf("%s: %s has the probability %v", name, what, x)
				}
			}
		}
		total("exact chain", w.ExactChain(g.Lambda[0], g.Lambda[3]))
		total("DMPM", w.FrozenLaw(g))
		total("DMPM by its series", w.FrozenSeries(g))
		for _, rule := range []laws.ScoreRule{laws.ScoreTruncatedTau, laws.ScoreTauAny, laws.ScoreEuler} {
			v, err := w.ScoredLaw(rule, g, func(x, l int) float64 { return 0.7 + 0.1*float64((x+l)%4) })
			if err != nil {
				t.Fatal(err)
			}
			total("scores", v.Law)
			if !(v.Calls >= 1 && v.Calls <= float64(w.D)) {
				t.Errorf("%v calls", v.Calls)
			}
		}
		for _, scheme := range []laws.ThetaScheme{laws.ThetaTrapezoidal, laws.ThetaRK2} {
			v, clipped := w.ThetaLaw(scheme, g, 0.4)
			total("θ", v.Law)
			if clipped < 0 {
				t.Errorf("clipped %v", clipped)
			}
		}
		refined := laws.Refined([]float64{1, 0.4, 0.1}, 0.3)
		half := steps(t, samplers.RuleTweedie, samplers.GridSpec{Kind: samplers.GridLambdaList, List: refined})
		total("trapezoidal", w.TrapezoidLaw(half, 0.3, 0.1))
		sizes := []int{1, w.D - 1}
		total("parallel", w.ParallelLaw(sizes))
		total("paired", w.BlockLaw(sizes, []float64{0, 0.5}, 0.1))
		total("EB", first(w.EntropyBounded(0.8)))
	})
}

func first[A, B any](a A, _ B) A { return a }

// TestExactChain: with T large and δ → 0 it is FHS; in between it solves the forward equation.
func TestExactChain(t *testing.T) {
	worlds(func(name string, w *laws.World) {
		fhs := w.FHSLaw()
		if d := apart(w.OnSequences(w.ExactChain(1, 0)), fhs); d > 1e-14 {
			t.Errorf("%s: from T = ∞ to 0 it differs from FHS by %v", name, d)
		}
		if d := apart(w.OnSequences(w.ExactChain(-math.Expm1(-40), 1e-12)), fhs); d > 1e-10 {
			t.Errorf("%s: from T = 40 to 1e-12 it differs from FHS by %v", name, d)
		}
		// −λ dP/dλ (y) = Σ_x P(x)·μ(x→y) − m(y)·P(y).
		const lambda, h = 0.4, 1e-4
		at := func(last float64) []float64 { return w.ExactChain(0.9, last) }
		now, rows := at(lambda), w.Rows(lambda)
		up, down := at(lambda+h), at(lambda-h)
		for y := range now {
			want := -float64(w.Masks(y)) * now[y]
			for l := range w.D {
				a := w.Token(y, l)
				if a == w.V {
					continue
				}
				x := w.Hide(y, l)
				want += now[x] * rows[(x*w.D+l)*w.V+a]
			}
			if got := -lambda * (up[y] - down[y]) / (2 * h); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: state %d: −λ dP/dλ is %v, the rates give %v", name, y, got, want)
			}
		}
		// One segment's events, by hand, and MATU's by the midpoint rule.
		g := thetas(t, 2, 0.5)
		c := laws.CountExactChain(g, w.D)
		rate, d := 1/math.Expm1(0.5), float64(w.D)
		if want := d * 1.5 * rate; !near(c.Uniformization, want, 1e-12) {
			t.Errorf("%v events of uniformization, want %v", c.Uniformization, want)
		}
		sum, n := 0.0, 20000
		for i := range n {
			at := 0.5 + 1.5*(float64(i)+0.5)/float64(n)
			sum += 1.5 / float64(n) * d * rate * math.Expm1(-at) / math.Expm1(-2)
		}
		if !near(c.MATU, sum, 1e-8) {
			t.Errorf("%v events of MATU, want %v", c.MATU, sum)
		}
	})
}

// TestDMPM: its leftovers are those of its step probabilities, and what has none is
// FHS's law, where μ does not depend on time.
func TestDMPM(t *testing.T) {
	g := thetas(t, 5, 3, 1, 0.2, 0.01)
	worlds(func(name string, w *laws.World) {
		law := w.FrozenLaw(g)
		if d := apart(law, w.FrozenSeries(g)); d > 1e-14 {
			t.Errorf("%s: matrix exponentials differ by %v", name, d)
		}
		left := 1.0
		for _, p := range laws.RevealProbabilities(g) {
			left *= 1 - p
		}
		clean := w.OnSequences(law)
		if got, want := total(clean), math.Pow(1-left, float64(w.D)); !near(got, want, 1e-12) {
			t.Errorf("%s: nothing is left with probability %v, want %v", name, got, want)
		}
		if w.Timed() {
			return
		}
		scale := total(clean)
		for i := range clean {
			clean[i] /= scale
		}
		if d := apart(clean, w.FHSLaw()); d > 1e-14 {
			t.Errorf("%s: without leftovers DMPM differs from FHS by %v", name, d)
		}
	})
}

// TestScores: truncated τ-leaping of normalised scores is Tweedie, the others are
// their namesakes.
func TestScores(t *testing.T) {
	spec := samplers.GridSpec{Kind: samplers.GridPaper, T: 5, Delta: 0.01, Steps: 7}
	one := func(int, int) float64 { return 1 }
	worlds(func(name string, w *laws.World) {
		for rule, own := range map[laws.ScoreRule]samplers.Rule{
			laws.ScoreTruncatedTau: samplers.RuleTweedie, laws.ScoreTauAny: samplers.RuleTauAny, laws.ScoreEuler: samplers.RuleEuler,
		} {
			s := steps(t, own, spec)
			v, err := w.ScoredLaw(rule, s.Grid, one)
			if err != nil {
				t.Fatal(err)
			}
			if d := apart(v.Law, w.GridLaw(s)); d > 1e-14 {
				t.Errorf("%s: %s: differs by %v", name, own, d)
			}
			calls, finish := s.ExpectedCalls(w.D)
			if !near(v.Calls, calls+finish, 1e-12) {
				t.Errorf("%s: %s: %v calls, want %v", name, own, v.Calls, calls+finish)
			}
		}
		if _, err := w.ScoredLaw(laws.ScoreEuler, thetas(t, 5, 0.01), func(int, int) float64 { return 200 }); err == nil {
			t.Error("a probability above 1 is no error")
		}
	})
}

// TestTheta: one position has the law of its own clocks, by hand.
func TestTheta(t *testing.T) {
	w := random(7, 1, 3, false)
	g := thetas(t, 2, 0.5)
	const theta, eta = 0.3, 1.5
	lead, mid := laws.Rate(2), laws.Rate(2-theta*eta)
	for _, test := range []struct {
		scheme  laws.ThetaScheme
		stay    float64
		clipped float64
	}{
		{laws.ThetaTrapezoidal, math.Exp(-theta*eta*lead) * math.Exp(-(1-theta)*eta*(mid/(0.42)-lead*(1/0.42-1))), 0},
		// What is revealed in the first stage alone has the rate 0 in the second.
		{laws.ThetaRK2, -math.Expm1(-theta*eta*lead) + math.Exp(-theta*eta*lead)*math.Exp(-eta*(lead*(1-1/0.6)+mid/0.6)), lead * (1/0.6 - 1)},
	} {
		v, clipped := w.ThetaLaw(test.scheme, g, theta)
		if got := v.Law[w.AllMask()]; !near(got, test.stay, 1e-13) || !near(clipped, test.clipped, 1e-13) {
			t.Errorf("scheme %d: stays masked with probability %v, want %v; clipped %v, want %v", test.scheme, got, test.stay, clipped, test.clipped)
		}
		for a, mu := range w.Rows(1)[w.AllMask()*3:] {
			if got := v.Law[a]; !near(got, mu*(1-test.stay), 1e-13) {
				t.Errorf("scheme %d: token %d has probability %v, want %v", test.scheme, a, got, mu*(1-test.stay))
			}
		}
	}
}

// TestTrapezoid: one step of two positions by hand. In a quarter of plans each half
// reveals one, a given one first.
func TestTrapezoid(t *testing.T) {
	w := random(9, 2, 3, false)
	s := steps(t, samplers.RuleTweedie, samplers.GridSpec{Kind: samplers.GridLambdaList, List: laws.Refined([]float64{1, 0}, 0.5)})
	got := w.TrapezoidLaw(s, 0.5, 0.1)
	rows := w.Rows(1)
	row := func(x, l int) []float64 { return rows[(x*2+l)*3 : (x*2+l+1)*3] }
	all := w.AllMask()
	mixed := make([]float64, 3)
	for a := range 3 {
		for b := range 3 {
			want := row(all, 0)[a] * row(all, 1)[b] / 2
			samplers.Mix(mixed, row(w.Reveal(all, 0, a), 1), row(all, 1), 1, 0.1)
			want += row(all, 0)[a] * mixed[b] / 4
			samplers.Mix(mixed, row(w.Reveal(all, 1, b), 0), row(all, 0), 1, 0.1)
			want += row(all, 1)[b] * mixed[a] / 4
			if y := w.Reveal(w.Reveal(all, 0, a), 1, b); !near(got[y], want, 1e-14) {
				t.Errorf("%d, %d has probability %v, want %v", a, b, got[y], want)
			}
		}
	}
	if calls := laws.TrapezoidCalls(s, 2, false); !near(calls, 1.5, 1e-14) {
		t.Errorf("%v calls, want 1.5", calls)
	}
	if calls := laws.TrapezoidCalls(s, 2, true); !near(calls, 1.75, 1e-14) {
		t.Errorf("%v calls of a time-conditioned network, want 1.75", calls)
	}
}

// TestBlocks: plain blocks are parallel FHS, those of one position FHS, and λ of a
// first hit is a Beta variable.
func TestBlocks(t *testing.T) {
	worlds(func(name string, w *laws.World) {
		ones := make([]int, w.D)
		for i := range ones {
			ones[i] = 1
		}
		if d := apart(w.ParallelLaw(ones), w.FHSLaw()); d > 1e-13 {
			t.Errorf("%s: blocks of one differ from FHS by %v", name, d)
		}
		sizes := []int{w.D - 1, 1}
		if d := apart(w.ParallelLaw(sizes), w.BlockLaw(sizes, make([]float64, len(sizes)), 0)); !w.Timed() && d > 1e-14 {
			t.Errorf("%s: two recursions differ by %v", name, d)
		}
		// One block: λ ~ Beta(d,1), by the midpoint rule in its quantile.
		want, n := make([]float64, w.Sequences), 4000
		for i := range n {
			rows := w.Rows(math.Pow((float64(i)+0.5)/float64(n), 1/float64(w.D)))
			for x := range want {
				p := 1.0
				for l, rest := w.D-1, x; l >= 0; l, rest = l-1, rest/w.V {
					p *= rows[(w.AllMask()*w.D+l)*w.V+rest%w.V]
				}
				want[x] += p / float64(n)
			}
		}
		if d := apart(w.ParallelLaw([]int{w.D}), want); d > 1e-6 {
			t.Errorf("%s: one block differs by %v", name, d)
		}
	})
}

// TestEntropyBounded: without a bound one call fills all, with 0 each call one; the way to a
// sequence is one.
func TestEntropyBounded(t *testing.T) {
	worlds(func(name string, w *laws.World) {
		for _, gamma := range []float64{0, 0.5, 1, 1e6} {
			law, calls := w.EntropyBounded(gamma)
			for i, p := range law {
				if got := w.EntropyBoundedReplay(i, gamma); !near(got, p, 1e-14) {
					t.Errorf("%s, γ = %v: sequence %d has probability %v, by replay %v", name, gamma, i, p, got)
				}
			}
			if gamma == 0 && !near(calls, float64(w.D), 1e-12) || gamma == 1e6 && calls != 1 {
				t.Errorf("%s, γ = %v: %v calls", name, gamma, calls)
			}
		}
	})
	// Of equal entropies the first position is revealed, though the sums are rounded in
	// another order.
	mu := make([]float64, 16*2*3)
	for i := 0; i < len(mu); i += 6 {
		copy(mu[i:], []float64{0.2, 0.7, 0.1, 0.7, 0.1, 0.2})
	}
	w := laws.FromTables(2, 3, []float64{1, 0, 0, 0, 0, 0, 0, 0, 0}, mu, nil, 0, 0)
	if _, calls := w.EntropyBounded(0); !near(calls, 2, 1e-14) {
		t.Errorf("%v calls", calls)
	}
}
