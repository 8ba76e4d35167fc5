package oracle

import (
	"math"
	"testing"

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
		got := constantSteps(test.t, test.delta, test.n)
		g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridUniform, T: test.t, Delta: test.delta, Steps: test.n})
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.NewSteps(schedule.RuleEuler, schedule.Exp, g)
		if err != nil {
			t.Fatal(err)
		}
		want := stepPlan{Left: s.Left()}
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
	if got := exactScoreRateIntegral(3, theta); !near(got, 3*want, 1e-14) {
		t.Errorf("got %v, want %v", got, 3*want)
	}
	// The paper's grid: 0.618·dκ without a log(1/δ).
	for _, delta := range []float64{1e-2, 1e-6} {
		g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridPaper, T: 30, Delta: delta, Kappa: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		if got := exactScoreRateIntegral(1000, g.Theta); math.Abs(got-0.618) > 0.005 {
			t.Errorf("δ = %v: %v, want about 0.618", delta, got)
		}
	}
}

// TestPointTV compares with the sum over all 2^d states.
func TestPointTV(t *testing.T) {
	c := pointMass{D: 5, Gamma: 0.3}
	plan := stepPlan{Left: 0.4}
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
	if got := (pointMass{D: 1000, Gamma: 1e-3}).TV(stepPlan{Left: -math.Expm1(-1e-3)}); got > 1e-15 {
		t.Errorf("equal laws are %v apart", got)
	}
	if got := (pointMass{D: 1000, Gamma: 1e-3}).TV(stepPlan{Left: 0.5}); !near(got, 1, 1e-12) {
		t.Errorf("far laws are %v apart", got)
	}
}

// TestPairsTV compares with the sum over all classes of three pairs.
func TestPairsTV(t *testing.T) {
	plan := stepPlan{Left: 0.2, SameStep: 0.1}
	for _, gamma := range []float64{0, 0.15} {
		c := tokenPairs{D: 6, V: 3, Gamma: gamma}
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

// TestFitPower recovers exponents, and refuses rows that do not determine them.
func TestFitPower(t *testing.T) {
	var d []int
	var eps, y []float64
	for _, a := range []int{10, 100, 1000} {
		for _, e := range []float64{1e-2, 1e-4} {
			d, eps, y = append(d, a), append(eps, e), append(y, 3*math.Pow(float64(a), 0.7)*math.Pow(e, -0.25))
		}
	}
	p, err := fitPower(d, eps, y)
	if err != nil || !near(p.Constant, math.Log(3), 1e-12) || !near(p.D, 0.7, 1e-12) || !near(p.InverseEps, 0.25, 1e-12) || p.MaxResidual > 1e-12 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := fitPower(d[:2], eps[:2], y[:2]); err == nil {
		t.Error("two rows were fitted")
	}
	if _, err := fitPower([]int{10, 10, 10}, []float64{.1, .1, .1}, []float64{1, 1, 1}); err == nil {
		t.Error("three equal rows were fitted")
	}
}
