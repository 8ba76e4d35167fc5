package schedule_test

import (
	"math"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
)

func equalLists(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !reftest.Near(got[i], want[i], 1e-12) {
			t.Errorf("%s[%d] = %.17g, want %.17g", what, i, got[i], want[i])
			return
		}
	}
}

// TestPaperGridSteps checks the two endings by the grid's own rule: every step except a cut last one
// is κ·min(1, θ).
func TestPaperGridSteps(t *testing.T) {
	reftest.Long(t)
	for _, spec := range []schedule.GridSpec{
		{T: 5, Delta: 0.01, Steps: 40}, {T: 0.5, Delta: 0.01, Steps: 1}, {T: 9, Delta: 1e-6, Steps: 1000},
		{T: 40, Delta: 1e-280, Kappa: 0.1}, {T: 5, Delta: 0.01, Kappa: 0.3}, {T: 5, Delta: 0.01, Kappa: 1}, {T: 4, Delta: 1.5, Steps: 7},
	} {
		spec.Kind = schedule.GridPaper
		g, err := schedule.NewGrid(spec)
		if err != nil {
			t.Errorf("%+v: %v", spec, err)
			continue
		}
		n := g.Steps()
		if g.Theta[0] != spec.T || g.Theta[n] != spec.Delta {
			t.Errorf("%+v: ends are %v and %v", spec, g.Theta[0], g.Theta[n])
		}
		if spec.Delta >= 1 {
			// All times are above 1: steps are equal.
			if step := g.Theta[0] - g.Theta[1]; math.Abs(step-(spec.T-spec.Delta)/float64(n)) > 1e-12 {
				t.Errorf("%+v: first step is %v", spec, step)
			}
			continue
		}
		for k := range n {
			step, want := g.Theta[k]-g.Theta[k+1], g.Kappa*min(1, g.Theta[k])
			if cut := k == n-1 && spec.Kappa != 0; step > want+1e-12 || !cut && step < want-1e-12 {
				t.Errorf("%+v: step %d is %v, want %v", spec, k, step, want)
			}
		}
	}
}

// TestCurves checks the ends and the formula of grids in the masked fraction.
func TestCurves(t *testing.T) {
	for _, test := range []struct {
		kind  schedule.GridKind
		curve func(x float64) float64
	}{
		{schedule.GridLambda, func(x float64) float64 { return 1 - x }},
		{schedule.GridCosine, func(x float64) float64 { return math.Cos(math.Pi / 2 * x) }},
		{schedule.GridCos2, func(x float64) float64 { return math.Pow(math.Cos(math.Pi/2*x), 2) }},
	} {
		for _, ends := range [][2]float64{{math.Inf(1), 0}, {5, 0.01}} {
			g := reftest.Must(schedule.NewGrid(schedule.GridSpec{Kind: test.kind, T: ends[0], Delta: ends[1], Steps: 10}))(t)
			first, last := -math.Expm1(-ends[0]), -math.Expm1(-ends[1])
			if g.Lambda[0] != first || g.Lambda[10] != last || g.Theta[0] != ends[0] || g.Theta[10] != ends[1] {
				t.Errorf("%s: ends λ %v, %v, θ %v, %v", test.kind, g.Lambda[0], g.Lambda[10], g.Theta[0], g.Theta[10])
			}
			for k, got := range g.Lambda {
				if want := last + (first-last)*test.curve(float64(k)/10); !reftest.Near(got, want, 1e-12) {
					t.Errorf("%s: λ[%d] = %v, want %v", test.kind, k, got, want)
				}
			}
		}
	}
}

func TestGridErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		spec schedule.GridSpec
		want string
	}{
		{"ends in the wrong order", schedule.GridSpec{Kind: schedule.GridUniform, T: 1, Delta: 2, Steps: 3}, "T > delta"},
		{"NaN", schedule.GridSpec{Kind: schedule.GridUniform, T: math.NaN(), Steps: 3}, "T > delta"},
		{"no steps", schedule.GridSpec{Kind: schedule.GridLambda, T: 1}, "0 steps"},
		{"absurd number of steps", schedule.GridSpec{Kind: schedule.GridLambda, T: 1, Steps: 1 << 40}, "must be in 1"},
		{"infinite T in the time of exp", schedule.GridSpec{Kind: schedule.GridUniform, T: math.Inf(1), Steps: 3}, "finite"},
		{"beyond the noise's range", schedule.GridSpec{Kind: schedule.GridUniform, Noise: schedule.LogLinear, T: 8, Steps: 3}, "0..6.90776"},
		{"below the noise's range", schedule.GridSpec{Kind: schedule.GridUniform, Noise: schedule.Geometric, T: 8, Steps: 3}, "0.0001..20"},
		{"paper with delta 0", schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Steps: 3}, "positive delta"},
		{"paper with a delta that is no number any more", schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Delta: 5e-324, Kappa: 0.1}, "positive delta"},
		{"paper with both", schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Delta: 0.1, Steps: 3, Kappa: 0.1}, "both"},
		{"kappa above 1", schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Delta: 0.1, Kappa: 1.1}, "(0,1]"},
		{"kappa that needs too many steps", schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Delta: 0.1, Kappa: 1e-12}, "more than"},
		{"kappa elsewhere", schedule.GridSpec{Kind: schedule.GridUniform, T: 5, Kappa: 0.1}, "paper's grid"},
		{"a list of one", schedule.GridSpec{Kind: schedule.GridThetaList, List: []float64{1}}, "at least 2"},
		{"a list that rises", schedule.GridSpec{Kind: schedule.GridThetaList, List: []float64{1, 2}}, "must decrease"},
		{"a list with equal times", schedule.GridSpec{Kind: schedule.GridLambdaList, List: []float64{0.5, 0.5}}, "must decrease"},
		{"a fraction above 1", schedule.GridSpec{Kind: schedule.GridLambdaList, List: []float64{1.5, 0.5}}, "0..1"},
		{"NaN in a list", schedule.GridSpec{Kind: schedule.GridThetaList, List: []float64{math.NaN(), 0.5}}, "at least 0"},
		{"unknown", schedule.GridSpec{Kind: "spiral", T: 5, Steps: 3}, "not known"},
	} {
		reftest.Fails(t, reftest.Err(schedule.NewGrid(test.spec)), test.want, test.name)
	}
}

// TestNoise checks each schedule against its own definition, and that a grid uniform in its time
// agrees with the noise's functions.
func TestNoise(t *testing.T) {
	definitions := map[string]func(t float64) float64{
		"exp": func(t float64) float64 { return math.Exp(-t) }, "loglinear": func(t float64) float64 { return 1 - 0.999*t }, "linear": func(t float64) float64 { return 1 - t },
		"cosine":    func(t float64) float64 { return 0.001 + 0.999*math.Cos(math.Pi*t/2) },
		"geometric": func(t float64) float64 { return math.Exp(-math.Pow(1e-4, 1-t) * math.Pow(20, t)) },
	}
	for _, name := range schedule.Noises() {
		alpha := definitions[name]
		n, err := schedule.ParseNoise(name)
		if err != nil || n.String() != name {
			t.Fatalf("%s: read as %v, %v", name, n, err)
		}
		for _, x := range []float64{1e-6, 0.01, 0.3, 0.5, 0.9, 0.999} {
			theta := n.Theta(x)
			if got := n.Time(theta); math.Abs(got-x) > 1e-9 {
				t.Errorf("%s: Time(Theta(%v)) = %v", name, x, got)
			}
			if got := -math.Log(alpha(x)); math.Abs(got-theta) > 1e-9*max(1, theta) {
				t.Errorf("%s: −log α(%v) = %v, Theta is %v", name, x, got, theta)
			}
			h := 1e-6 * x
			slope := (alpha(x+h) - alpha(x-h)) / (2 * h)
			if got := n.AlphaPrime(x); x >= 0.01 && math.Abs(got-slope) > 1e-6*max(1, math.Abs(slope)) {
				t.Errorf("%s: α′(%v) = %v, difference quotient %v", name, x, got, slope)
			}
		}
		// τ-leaping's expected count is Δt·(−α′)/(1−α) in the noise's own time.
		g := reftest.Must(schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridThetaList, List: []float64{n.Theta(0.7), n.Theta(0.4)}}))(t)
		steps := reftest.Must(schedule.NewSteps(schedule.RuleTauAny, n, g))(t)
		if got, want := steps.Jump[0], -math.Expm1(0.3*n.AlphaPrime(0.7)/(1-alpha(0.7))); math.Abs(got-want) > 1e-10 {
			t.Errorf("%s: τ-leaping jumps with %v, want %v", name, got, want)
		}
		least, most := n.Range()
		if name != "exp" {
			if !reftest.Near(n.Theta(0), least, 1e-12) || !(n.Theta(1) == most || reftest.Near(n.Theta(1), most, 1e-12)) {
				t.Errorf("%s: range %v..%v, Theta(0) = %v, Theta(1) = %v", name, least, most, n.Theta(0), n.Theta(1))
			}
		}
	}
	reftest.Fails(t, reftest.Err(schedule.ParseNoise("pink")), "", "noise pink was accepted")
}

// TestEulerIsTweedieWhereAlphaIsLinear checks that if α is linear in t (log-linear and linear noise),
// Euler's rate times the step is Tweedie's probability. For other noises it is larger or smaller.
func TestEulerIsTweedieWhereAlphaIsLinear(t *testing.T) {
	for _, noise := range []schedule.Noise{schedule.LogLinear, schedule.Linear} {
		T, delta := 6.0, 0.0
		g := reftest.Must(schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridUniform, Noise: noise, T: T, Delta: delta, Steps: 64}))(t)
		euler := reftest.Must(schedule.NewSteps(schedule.RuleEuler, noise, g))(t)
		tweedie := reftest.Must(schedule.NewSteps(schedule.RuleTweedie, noise, g))(t)
		equalLists(t, noise.String(), euler.Jump, tweedie.Jump)
	}
	// The cosine's rate is too large for a step to 0: 2 at the last one.
	g := reftest.Must(schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridUniform, Noise: schedule.Cosine, T: 6, Steps: 64}))(t)
	reftest.Fails(t, reftest.Err(schedule.NewSteps(schedule.RuleEuler, schedule.Cosine, g)), "step 63")
	for _, rule := range []schedule.Rule{schedule.RuleTauAny, schedule.RuleTauOne} {
		reftest.Must(schedule.NewSteps(rule, schedule.Cosine, g))(t, rule)
	}
}

func FuzzParseGrid(f *testing.F) {
	for _, s := range []string{"", "uniform", "theta:5,1,0.01", "lambda:1,0.5,0", "theta:inf,0", "lambda:", "x:1", "theta:1e999,nan"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := schedule.ParseGrid(s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if spec.List == nil {
			return
		}
		g, err := schedule.NewGrid(spec)
		if err != nil {
			return
		}
		// For every list that is a grid, Tweedie's law on it sums to 1.
		s2 := reftest.Must(schedule.NewSteps(schedule.RuleTweedie, schedule.Exp, g))(t)
		sum := s2.Left()
		for k, w := range s2.Reveal {
			if !(w >= 0) || !(s2.Jump[k] >= 0 && s2.Jump[k] <= 1+1e-9) {
				t.Fatalf("step %d: reveal %v, jump %v", k, w, s2.Jump[k])
			}
			sum += w
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("probabilities sum to %v", sum)
		}
	})
}
