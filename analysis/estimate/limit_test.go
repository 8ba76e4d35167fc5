package estimate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/internal/reftest"
)

// TestUpperLimit draws from known distributions: limits are above the mean in at least 95 % of 400
// repetitions (fewer than 366 times has probability 1e-3), and on average below the empirical
// Bernstein bound of Maurer and Pontil (arXiv 0907.3740, theorem 4).
func TestUpperLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		mean float64
		draw func() float64
	}{
		"rare":    {0.05, func() float64 { return math.Floor(r.Float64() + 0.05) }},
		"coin":    {0.5, func() float64 { return math.Floor(r.Float64() + 0.5) }},
		"small":   {0.02, func() float64 { return 0.04 * r.Float64() }},
		"uniform": {0.5, r.Float64},
		"mixed":   {0.1, func() float64 { return math.Floor(r.Float64()+0.5) * 0.4 * r.Float64() }},
	} {
		for _, n := range []int{5, 50, 300} {
			above, limit, bernstein := 0, 0.0, 0.0
			for range 400 {
				x := make([]float64, n)
				for i := range x {
					x[i] = c.draw()
				}
				got := UpperLimit(x, 0.95)
				if got >= c.mean {
					above++
				}
				mean, ss := moments(x)
				l := math.Log(2 / 0.05)
				limit += got / 400
				bernstein += min(1, mean+math.Sqrt(2*ss/float64(n-1)*l/float64(n))+7*l/(3*float64(n-1))) / 400
			}
			if above < 366 || !(limit < bernstein || bernstein == 1) {
				t.Errorf("%s: of %d samples the limit is above in %d of 400, %.3f on average, Bernstein's %.3f", name, n, above, limit, bernstein)
			}
		}
	}
}

// TestUpperLimitEnds checks deterministic cases.
func TestUpperLimitEnds(t *testing.T) {
	zeros := make([]float64, 64)
	// Σ log(1 + ¾·m/(1−m)) = log 20 over 64 zeros, except for the first, which has a smaller bet.
	ratio := 4. / 3 * math.Expm1(math.Log(20)/64)
	if got, want := UpperLimit(zeros, 0.95), ratio/(1+ratio); !(got > want && got < 1.01*want) {
		t.Errorf("64 zeros: %v, want a little more than %v", got, want)
	}
	if got := UpperLimit(zeros, 0); got != UpperLimit(zeros, 0.95) {
		t.Errorf("by default: %v", got)
	}
	for _, x := range [][]float64{nil, {1, 1, 1}, {0}} {
		if got := UpperLimit(x, 0.95); !(got > 0.9 && got <= 1) {
			t.Errorf("%v: %v", x, got)
		}
	}
	if UpperLimit(zeros, 0.99) <= UpperLimit(zeros, 0.95) {
		t.Error("more confidence gives no higher limit")
	}
	defer func() {
		if recover() == nil {
			t.Error("a sample of 2 is taken")
		}
	}()
	UpperLimit([]float64{2}, 0.95)
}

// TestAtMost checks that a limit has no mean, no standard error and no lower end, also in JSON.
func TestAtMost(t *testing.T) {
	limit := AtMost(0.25, 0.95, 64, 32)
	data, err := json.Marshal(limit)
	if want := `{"mean":null,"se":null,"lo":"-inf","hi":0.25,"confidence":0.95,"n":64,"units":32}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
	var back Estimate
	reftest.OK(t, json.Unmarshal(data, &back))
	if x, ok := back.Limit(); x != 0.25 || !ok || back.String() != "≤ 0.25" {
		t.Errorf("%v, %v, %s", x, ok, back)
	}
	for _, e := range []Estimate{Mean([]float64{1, 2}, 0), Mean([]float64{1}, 0), AtMost(math.Inf(1), 0.95, 1, 1)} {
		if x, ok := e.Limit(); ok {
			t.Errorf("%v: the limit %v", e, x)
		}
	}
}

// TestLowerLimit draws from known distributions, some with a mean dominated by rare values: limits are below
// the mean in at least 95 % of 200 repetitions (fewer than 180 times has probability 1e-3), and
// near it for many similar samples.
func TestLowerLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for name, c := range map[string]struct {
		mean float64
		draw func() float64
	}{
		"constant":  {1, func() float64 { return 1 }},
		"uniform":   {0.5, r.Float64},
		"rare":      {1, func() float64 { return 1000 * math.Floor(r.Float64()+0.001) }},
		"lognormal": {1, func() float64 { return math.Exp(3*r.NormFloat64() - 4.5) }},
		"pareto":    {math.Inf(1), func() float64 { return 1 / r.Float64() }},
	} {
		for _, n := range []int{5, 50, 200} {
			below, last := 0, 0.0
			for range 200 {
				x := make([]float64, n)
				for i := range x {
					x[i] = c.draw()
				}
				if last = LowerLimit(x, 0.95); last <= c.mean {
					below++
				}
			}
			if below < 180 || (name == "constant" || name == "uniform") && n == 200 && last < 0.8*c.mean {
				t.Errorf("%s: of %d samples the limit is below %v in %d of 200, the last is %v", name, n, c.mean, below, last)
			}
		}
	}
	if got := LowerLimit(nil, 0.95); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
