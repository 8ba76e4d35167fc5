package theory_test

import (
	"math"
	"testing"

	"mdmgen/analysis/theory"
	"mdmgen/samplers/schedule"
)

func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

// TestConstantSteps compares the carried products with the plain ones.
func TestConstantSteps(t *testing.T) {
	for _, test := range []struct {
		t, delta float64
		n        int
	}{{5.1, 0.1, 1}, {5.1, 0.1, 63}, {5.1, 0.1, 64}, {5.1, 0.1, 65}, {12, 1e-6, 1000}, {3, 0, 200}, {9, 1e-4, 100000}} {
		got := theory.ConstantSteps(test.t, test.delta, test.n)
		g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridUniform, T: test.t, Delta: test.delta, Steps: test.n})
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.NewSteps(schedule.RuleEuler, schedule.Exp, g)
		if err != nil {
			t.Fatal(err)
		}
		want := theory.Plan{Left: s.Left()}
		for _, w := range s.Reveal {
			want.SameStep += w * w
		}
		if math.Abs(got.Left/want.Left-1) > 1e-9 || math.Abs(got.SameStep/want.SameStep-1) > 1e-11 {
			t.Errorf("%+v: %+v, want %+v", test, got, want)
		}
	}
}

// TestExactScore: the sum without cancellation is the paper's.
func TestExactScore(t *testing.T) {
	theta := []float64{5, 2, 1.5, 0.4, 0.1, 0}
	want := 0.0
	for k := range len(theta) - 1 {
		r := 1 / math.Expm1(theta[k])
		want += (math.Exp(-theta[k+1])-math.Exp(-theta[k]))*(1+r) - r*(theta[k]-theta[k+1])
	}
	if got := theory.ExactScoreRateIntegral(3, theta); !near(got, 3*want, 1e-14) {
		t.Errorf("got %v, want %v", got, 3*want)
	}
	// The paper's grid: 0.618·dκ without a log(1/δ).
	for _, delta := range []float64{1e-2, 1e-6} {
		g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridPaper, T: 30, Delta: delta, Kappa: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		if got := theory.ExactScoreRateIntegral(1000, g.Theta); math.Abs(got-0.618) > 0.005 {
			t.Errorf("δ = %v: %v, want about 0.618", delta, got)
		}
	}
}

// TestPointTV compares with the sum over all 2^d states.
func TestPointTV(t *testing.T) {
	c := theory.Point{D: 5, Gamma: 0.3}
	plan := theory.Plan{Left: 0.4}
	q := -math.Expm1(-0.3)
	want := 0.0
	for s := range 32 {
		a, b := 1.0, 1.0
		for l := range 5 {
			if s>>l&1 == 1 {
				a, b = a*plan.Left, b*q
			} else {
				a, b = a*(1-plan.Left), b*(1-q)
			}
		}
		want += math.Abs(a-b) / 2
	}
	if got := c.TV(plan); !near(got, want, 1e-13) {
		t.Errorf("TV %v, want %v", got, want)
	}
	if got := (theory.Point{D: 1000, Gamma: 1e-3}).TV(theory.Plan{Left: -math.Expm1(-1e-3)}); got > 1e-15 {
		t.Errorf("equal laws are %v apart", got)
	}
	if got := (theory.Point{D: 1000, Gamma: 1e-3}).TV(theory.Plan{Left: 0.5}); !near(got, 1, 1e-12) {
		t.Errorf("far laws are %v apart", got)
	}
}

// TestPairsTV compares with the sum over all classes of three pairs.
func TestPairsTV(t *testing.T) {
	plan := theory.Plan{Left: 0.2, SameStep: 0.1}
	for _, gamma := range []float64{0, 0.15} {
		c := theory.Pairs{D: 6, V: 3, Gamma: gamma}
		m := -math.Expm1(-gamma)
		differ := (1 - 1./3) * 0.1
		p := []float64{0.04, 0.32, 0.64 - differ, differ}
		q := []float64{m * m, 2 * m * (1 - m), (1 - m) * (1 - m), 0}
		want := 0.0
		for s := range 64 {
			want += math.Abs(p[s%4]*p[s/4%4]*p[s/16]-q[s%4]*q[s/4%4]*q[s/16]) / 2
		}
		if got := c.TV(plan); !near(got, want, 1e-13) {
			t.Errorf("γ = %v: TV %v, want %v", gamma, got, want)
		}
	}
}

// TestLeastSteps searches distances whose answer is known, from good and bad guesses.
func TestLeastSteps(t *testing.T) {
	for _, power := range []float64{0.3, 1, 2} {
		for _, want := range []int{1, 2, 3, 77, 4096, 1000003} {
			// Just below the target at want.
			distance := func(n int) float64 { return math.Pow(float64(want)-0.5, power) / math.Pow(float64(n), power) }
			for _, guess := range []int{0, 1, 5, 900, want, want + 1, 3000000} {
				calls := 0
				got := theory.LeastSteps(func(n int) float64 { calls++; return distance(n) }, 1, guess)
				if got.N != want || got.At != distance(want) || want > 1 && got.Before != distance(want-1) || want == 1 && !math.IsInf(got.Before, 1) {
					t.Errorf("power %v, guess %d: %+v, want N = %d", power, guess, got, want)
				}
				if calls > 80 {
					t.Errorf("power %v, guess %d, N = %d: %d calls", power, guess, want, calls)
				}
			}
		}
	}
	if got := theory.LeastSteps(func(int) float64 { return 2 }, 1, 10); got.N != 0 {
		t.Errorf("a constant distance needs %d steps", got.N)
	}
}

// TestCollision lists all ways to hand three positions to four calls.
func TestCollision(t *testing.T) {
	reveal, left := []float64{0.3, 0, 0.25, 0.4}, 0.05
	w := append(append([]float64(nil), reveal...), left)
	var alone, aloneFilled float64
	for s := range 125 {
		at := []int{s % 5, s / 5 % 5, s / 25}
		p := w[at[0]] * w[at[1]] * w[at[2]]
		count := make([]int, 5)
		for _, k := range at {
			count[k]++
		}
		single := count[0] < 2 && count[1] < 2 && count[2] < 2 && count[3] < 2
		if single {
			if count[4] == 0 {
				alone += p
			}
			if count[4] < 2 {
				aloneFilled += p
			}
		}
	}
	if got := theory.CollisionBound(3, reveal, left, false); !near(got, alone, 1e-15) {
		t.Errorf("masks stay: p* = %v, want %v", got, alone)
	}
	if got := theory.CollisionBound(3, reveal, left, true); !near(got, aloneFilled, 1e-15) {
		t.Errorf("denoised: p* = %v, want %v", got, aloneFilled)
	}
	if got := theory.LogCollisionBound(4, reveal, left, false); !math.IsInf(got, -1) {
		t.Errorf("four positions in three calls: log p* = %v", got)
	}
}

// TestLogCollision: uniform calls have the closed form N!/((N−d)!·N^d), also where it is
// far below the least float64.
func TestLogCollision(t *testing.T) {
	for _, test := range []struct{ d, n int }{{3, 3}, {8, 100}, {1024, 1024}, {1024, 1100}, {1024, 4096}, {1024, 100000}} {
		w := make([]float64, test.n)
		for k := range w {
			w[k] = 1 / float64(test.n)
		}
		want := 0.0
		for j := range test.d {
			want += math.Log1p(-float64(j) / float64(test.n))
		}
		if got := theory.LogCollisionBound(test.d, w, 0, true); !near(got, want, 1e-11) {
			t.Errorf("d = %d, N = %d: log p* = %v, want %v", test.d, test.n, got, want)
		}
	}
}

// TestFitPower recovers exponents, and refuses rows that do not determine them.
func TestFitPower(t *testing.T) {
	var d []int
	var eps, y []float64
	for _, a := range []int{10, 100, 1000} {
		for _, e := range []float64{1e-2, 1e-4} {
			d, eps, y = append(d, a), append(eps, e), append(y, 3*math.Pow(float64(a), 0.7)*math.Pow(e, -0.25))
		}
	}
	p, err := theory.FitPower(d, eps, y)
	if err != nil || !near(p.Constant, math.Log(3), 1e-12) || !near(p.D, 0.7, 1e-12) || !near(p.InverseEps, 0.25, 1e-12) || p.MaxResidual > 1e-12 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := theory.FitPower(d[:2], eps[:2], y[:2]); err == nil {
		t.Error("two rows were fitted")
	}
	if _, err := theory.FitPower([]int{10, 10, 10}, []float64{.1, .1, .1}, []float64{1, 1, 1}); err == nil {
		t.Error("three equal rows were fitted")
	}
}

// TestTerms: each term by hand.
func TestTerms(t *testing.T) {
	a := theory.Theorem2(3, 4, 5, 0.01, 0.5, 0.2)
	if !near(a.Sum(), 3*math.Exp(-5)+0.2+0.5*12*(1-math.Exp(-5)+math.Log(100))+0.03, 1e-14) {
		t.Errorf("Theorem 2: %+v", a)
	}
	b := theory.Corollary1(3, 4, 5, 0.5, 0.25, 0)
	if !near(b.Sum(), 3*math.Exp(-5)+0.5*12*(1-math.Exp(-5)+2), 1e-14) {
		t.Errorf("Corollary 1: %+v", b)
	}
}
