package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/theory"
	"mdmgen/samplers/schedule"
)

// TestFurtherLawsSumToOne: every sampler's law is one.
func TestFurtherLawsSumToOne(t *testing.T) {
	g := lawstest.Thetas(t, 4, 2, 0.7, 0.1)
	lawstest.Worlds(func(name string, w *laws.World) {
		sums := func(what string, p []float64) {
			if got := total(p); !near(got, 1, 1e-12) || slices.Min(p) < 0 {
				t.Errorf("%s, d = %d: %s sums to %v, least %v", name, w.D, what, got, slices.Min(p))
			}
		}
		for _, rule := range []scoreRule{scoreTruncatedTau, scoreTauAny, scoreEuler} {
			v, err := scoredLaw(w, rule, g, func(x, l int) float64 { return 0.7 + 0.1*float64((x+l)%4) })
			if err != nil {
				t.Fatal(err)
			}
			sums("scores", v.Law)
			if !(v.Calls >= 1 && v.Calls <= float64(w.D)) {
				t.Errorf("%v calls", v.Calls)
			}
		}
		for _, scheme := range []thetaScheme{thetaTrapezoidal, thetaRK2} {
			v, clipped := thetaLaw(w, scheme, g, 0.4)
			sums("θ", v.Law)
			if clipped < 0 {
				t.Errorf("clipped %v", clipped)
			}
		}
		law, _ := entropyBounded(w, 0.8)
		sums("EB", law)
	})
}

// TestCounts: events of one segment by hand and by the midpoint rule, and DMPM by its series.
func TestCounts(t *testing.T) {
	lawstest.Worlds(func(name string, w *laws.World) {
		// One segment's events, by hand, and MATU's by the midpoint rule.
		g := lawstest.Thetas(t, 2, 0.5)
		c := countExactChain(g, w.D)
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
		g = lawstest.Thetas(t, 5, 3, 1, 0.2, 0.01)
		if d := lawstest.Apart(w.FrozenLaw(g), frozenSeries(w, g)); d > 1e-14 {
			t.Errorf("%s: matrix exponentials differ by %v", name, d)
		}
	})
	half := lawstest.Steps(t, schedule.RuleTweedie, schedule.GridSpec{Kind: schedule.GridLambdaList, List: refinedGrid([]float64{1, 0}, 0.5)})
	for timed, want := range map[bool]float64{false: 1.5, true: 1.75} {
		if calls := trapezoidCalls(half, 2, timed); !near(calls, want, 1e-14) {
			t.Errorf("timed %t: %v calls of the trapezoidal plan, want %v", timed, calls, want)
		}
	}
}

// TestScores: truncated τ-leaping of normalised scores is Tweedie, the others are
// their namesakes.
func TestScores(t *testing.T) {
	spec := schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Delta: 0.01, Steps: 7}
	one := func(int, int) float64 { return 1 }
	lawstest.Worlds(func(name string, w *laws.World) {
		for rule, own := range map[scoreRule]schedule.Rule{
			scoreTruncatedTau: schedule.RuleTweedie, scoreTauAny: schedule.RuleTauAny, scoreEuler: schedule.RuleEuler,
		} {
			s := lawstest.Steps(t, own, spec)
			v, err := scoredLaw(w, rule, s.Grid, one)
			if err != nil {
				t.Fatal(err)
			}
			if d := lawstest.Apart(v.Law, w.GridLaw(s)); d > 1e-14 {
				t.Errorf("%s: %s: differs by %v", name, own, d)
			}
			calls, finish := s.ExpectedCalls(w.D)
			if !near(v.Calls, calls+finish, 1e-12) {
				t.Errorf("%s: %s: %v calls, want %v", name, own, v.Calls, calls+finish)
			}
		}
		if _, err := scoredLaw(w, scoreEuler, lawstest.Thetas(t, 5, 0.01), func(int, int) float64 { return 200 }); err == nil {
			t.Error("a probability above 1 is no error")
		}
	})
}

// TestTheta: one position has the law of its own clocks, by hand.
func TestTheta(t *testing.T) {
	w := lawstest.Random(7, 1, 3, false)
	g := lawstest.Thetas(t, 2, 0.5)
	const theta, eta = 0.3, 1.5
	lead, mid := laws.Rate(2), laws.Rate(2-theta*eta)
	for _, test := range []struct {
		scheme  thetaScheme
		stay    float64
		clipped float64
	}{
		{thetaTrapezoidal, math.Exp(-theta*eta*lead) * math.Exp(-(1-theta)*eta*(mid/(0.42)-lead*(1/0.42-1))), 0},
		// What is revealed in the first stage alone has the rate 0 in the second.
		{thetaRK2, -math.Expm1(-theta*eta*lead) + math.Exp(-theta*eta*lead)*math.Exp(-eta*(lead*(1-1/0.6)+mid/0.6)), lead * (1/0.6 - 1)},
	} {
		v, clipped := thetaLaw(w, test.scheme, g, theta)
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

// TestEntropyBounded: without a bound one call fills all, with 0 each call one; the way to a
// sequence is one.
func TestEntropyBounded(t *testing.T) {
	lawstest.Worlds(func(name string, w *laws.World) {
		for _, gamma := range []float64{0, 0.5, 1, 1e6} {
			law, calls := entropyBounded(w, gamma)
			for i, p := range law {
				if got := entropyBoundedReplay(w, i, gamma); !near(got, p, 1e-14) {
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
	if _, calls := entropyBounded(w, 0); !near(calls, 2, 1e-14) {
		t.Errorf("%v calls", calls)
	}
}

// TestPaths: the mean path probability is FHS's, and K-plan bounds fall from the
// NELBO towards −log P.
func TestPaths(t *testing.T) {
	w := lawstest.Random(3, 3, 2, false)
	fhs, nelbo := w.FHSLaw(), w.NELBO()
	for x := range fhs {
		paths := pathProbabilities(w, x)
		mean := total(paths) / float64(len(paths))
		if !near(mean, fhs[x], 1e-14) {
			t.Errorf("sequence %d: mean path %v, P_FHS %v", x, mean, fhs[x])
		}
		if got := planBound(paths, 1); !near(got, nelbo.BySequence[x], 1e-12) {
			t.Errorf("sequence %d: one plan %v, NELBO %v", x, got, nelbo.BySequence[x])
		}
		// Two plans, by listing the pairs.
		want := 0.0
		for _, a := range paths {
			for _, b := range paths {
				want -= math.Log((a+b)/2) / float64(len(paths)*len(paths))
			}
		}
		if got := planBound(paths, 2); !near(got, want, 1e-12) {
			t.Errorf("sequence %d: two plans %v, want %v", x, got, want)
		}
		last := math.Inf(1)
		for _, k := range []int{1, 2, 4, 8, 64, 1024} {
			b := planBound(paths, k)
			if b > last+1e-13 || b < -math.Log(mean)-1e-12 {
				t.Errorf("sequence %d: %d plans give %v after %v, −log P is %v", x, k, b, last, -math.Log(mean))
			}
			last = b
		}
	}
	if !math.IsInf(planBound([]float64{0.5, 0}, 3), 1) {
		t.Error("a path of probability 0 has a finite bound")
	}
	if got := planBound([]float64{1e-200, 1e-3}, 1); !near(got, (200+3)*math.Ln10/2, 1e-12) {
		t.Errorf("far apart paths: %v", got)
	}
}

// TestMaskWorld: data without MASK give what a world gives.
func TestMaskWorld(t *testing.T) {
	w := lawstest.Random(5, 3, 2, false)
	m := newMaskWorld(3, 2, w.OnStates(w.Q0))
	for _, time := range []float64{0.1, 1, 3} {
		if d := laws.TV(m.Marginal(time), w.Marginal(time)); d > 1e-15 {
			t.Errorf("marginals at %v differ by %v", time, d)
		}
	}
	// With the posterior as its denoiser the world has the same rates.
	mu := make([]float64, 27*3*2)
	for x := range 27 {
		for l := range 3 {
			if p, ok := w.Posterior(x, l); ok {
				copy(mu[(x*3+l)*2:], p)
			}
		}
	}
	exact := laws.FromTables(3, 2, w.Q0, mu, nil, 0, 0)
	s := lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridUniform, T: 3, Delta: 0.3, Steps: 4})
	run := m.Run(s.Grid.Theta)
	th := exact.Theorem1(exact.Run(s))
	if !near(run.FrozenIntegral, th.FrozenIntegral, 1e-12) || !near(run.TVInitial, th.TVInitial, 1e-13) {
		t.Errorf("with MASK %+v, without %+v", run, th)
	}
	if got := total(run.EulerLaw); !near(got, 1, 1e-13) {
		t.Errorf("Euler's law sums to %v", got)
	}
}

// TestProfile: its sums are the NELBO, and the best schedules are those of a search.
func TestProfile(t *testing.T) {
	lawstest.Worlds(func(name string, w *laws.World) {
		c, nelbo := profile(w), w.NELBO().Expected
		if !near(total(c), nelbo, 1e-11) || !near(lossIntegral(w), nelbo, 1e-11) {
			t.Errorf("%s: Σc is %v, d∫f %v, the NELBO %v", name, total(c), lossIntegral(w), nelbo)
		}
		for _, lambda := range []float64{0, 0.3, 1} {
			if got := loss(w, lambda); !w.Timed() && !near(got, schedule.LossCurve(c, lambda), 1e-12) {
				t.Errorf("%s: f(%v) is %v, of the profile %v", name, lambda, got, schedule.LossCurve(c, lambda))
			}
		}
		lambda := bestLattice(lossOf(w), 3, 12)
		best := math.Inf(1)
		for i := 1; i < 12; i++ {
			for j := i + 1; j < 12; j++ {
				at := []float64{1, 1 - float64(i)/12, 1 - float64(j)/12, 0}
				best = min(best, latticeCost(w.D, lossOf(w), at))
			}
		}
		if got := latticeCost(w.D, lossOf(w), lambda); !near(got, best, 1e-12) {
			t.Errorf("%s: the grid %v costs %v, the best %v", name, lambda, got, best)
		}
		run := w.Run(lawstest.Steps(t, schedule.RuleTweedie, schedule.GridSpec{Kind: schedule.GridLambdaList, List: lambda}))
		if !near(run.PlanNELBO, best, 1e-12) {
			t.Errorf("%s: the plan's NELBO is %v, the grid's cost %v", name, run.PlanNELBO, best)
		}
	})
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		c := make([]float64, 1+r.IntN(7))
		for j := range c {
			c[j] = r.Float64()
		}
		for n := 1; n <= len(c); n++ {
			sizes := bestSizes(c, n)
			best := math.Inf(1)
			compositions(len(c), n, nil, func(sizes []int) { best = min(best, schedule.SizesCost(c, sizes)) })
			if got := schedule.SizesCost(c, sizes); len(sizes) != n || !near(got, best, 1e-14) {
				t.Errorf("c = %v: %d sizes %v cost %v, the best %v", c, n, sizes, got, best)
			}
			falling := schedule.Monotone(c, nil)
			_, least := schedule.BestSizes(falling, n)
			if got := schedule.SizesCost(falling, bestSizes(falling, n)); !near(got, least, 1e-14) {
				t.Errorf("c = %v: %d sizes cost %v, package samplers finds %v", falling, n, got, least)
			}
		}
		falling := schedule.Monotone(c, nil)
		f := func(lambda float64) float64 { return schedule.LossCurve(falling, lambda) }
		_, least := schedule.BestGrid(falling, 3)
		if got := latticeCost(len(c), f, bestLattice(f, 3, 400)); !near(got, least, 1e-13) {
			t.Errorf("c = %v: a grid costs %v, package samplers finds %v", falling, got, least)
		}
	}
	if bestSizes([]float64{1}, 2) != nil || bestLattice(math.Sqrt, 5, 4) != nil {
		t.Error("more parts than there is room for")
	}
}

// lossOf is the loss of a world as a function.
func lossOf(w *laws.World) func(lambda float64) float64 {
	return func(lambda float64) float64 { return loss(w, lambda) }
}

// compositions calls do for the ways to write d as n sizes.
func compositions(d, n int, head []int, do func([]int)) {
	if n == 1 {
		do(append(head[:len(head):len(head)], d))
		return
	}
	for k := 1; k <= d-n+1; k++ {
		compositions(d-k, n-1, append(head[:len(head):len(head)], k), do)
	}
}

// TestTheory holds what this package works out against the paper's forms and against sums.
func TestTheory(t *testing.T) {
	for _, n := range []int{1, 63, 200} {
		times := constantTimes(5.1, 0.1, n)
		if a, b := theory.ExactScoreRateIntegral(7, times), exactScoreConstantSteps(7, 5.1, 0.1, n); !near(a, b, 1e-9) {
			t.Errorf("%d steps: integral %v on times, %v on constant steps", n, a, b)
		}
	}
	if e := exactScoreRounding(3, []float64{5, 2, 1.5, 0.4, 0.1, 0}); !(e > 0 && e < 1e-13) {
		t.Errorf("rounding is %v", e)
	}
	if got, want := exactMask(3, 0.1), (1-math.Exp(-0.1))/(1-math.Exp(-3.1)); !near(got, want, 1e-15) {
		t.Errorf("exact mask %v, want %v", got, want)
	}
	// Two positions in two steps.
	if got, want := collision(2, []float64{0.3, 0.6}, 0.1), 0.09+0.36; !near(got, want, 1e-15) {
		t.Errorf("a step reveals two with probability %v, want %v", got, want)
	}
}
