package estimate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

func TestFew(t *testing.T) {
	for name, e := range map[string]Estimate{
		"mean of none":          Mean(nil, 0),
		"mean of one":           Mean([]float64{3}, 0),
		"one pair":              Groups([]float64{3, 4}, 2, 0),
		"one stratum":           Strata([]float64{3}, 0),
		"one cluster":           Ratio([]float64{1, 2}, []float64{1, 1}, []int{7, 7}, 0),
		"an infinite sample":    Mean([]float64{1, 2, math.Inf(1)}, 0),
		"a sample of no number": Mean([]float64{1, 2, math.NaN()}, 0),
	} {
		if !math.IsInf(e.SE, 1) || !math.IsInf(e.Lo, -1) || !math.IsInf(e.Hi, 1) || len(e.Warnings) == 0 {
			t.Errorf("%s: %+v: want an infinite interval and a warning", name, e)
		}
		reftest.Must(json.Marshal(e))(t, name)
	}
	if e := Mean([]float64{1, 2, 3}, 0); e.NoInterval() != "no interval: 3 samples in 3 independent units: an interval takes 16 in 8" {
		t.Errorf("three samples: %q", e.NoInterval())
	}
	for _, e := range []Estimate{Mean([]float64{3}, 0), Mean(make([]float64, 20), 0), NormalRatio([]float64{1, 2, 3}, []float64{1, 1, 1}, nil, 0)} {
		if why := e.NoInterval(); why != "" {
			t.Errorf("%v: %s", e, why)
		}
	}
}

// TestValues compares with values computed by hand.
func TestValues(t *testing.T) {
	x := []float64{1, 2, 3, 6}
	for _, test := range []struct {
		name     string
		e        Estimate
		mean, se float64
	}{
		{"mean", Mean(x, 0), 3, math.Sqrt(14. / 3 / 4)},
		{"pairs", Groups(x, 2, 0), 3, 1.5},                  // means 1.5 and 4.5
		{"strata", Strata(x, 0), 3, math.Sqrt(1*1+3*3) / 4}, // differences 1 and 3
		{"odd strata", Strata([]float64{1, 2, 6}, 0), 3, math.Sqrt(3*14./2) / 3},
		{"ratio", Ratio([]float64{2, 4}, []float64{1, 3}, nil, 0), 1.5, math.Sqrt((0.25+0.25)*2) / 4},
		{"clusters", Ratio([]float64{1, 1, 4}, []float64{1, 0, 3}, []int{0, 0, 5}, 0), 1.5, math.Sqrt((0.25+0.25)*2) / 4},
	} {
		if math.Abs(test.e.Mean-test.mean) > 1e-14 || math.Abs(test.e.SE-test.se) > 1e-14 {
			t.Errorf("%s: %v ± %v, want %v ± %v", test.name, test.e.Mean, test.e.SE, test.mean, test.se)
		}
		if !math.IsInf(test.e.Lo, -1) || !math.IsInf(test.e.Hi, 1) || len(test.e.Warnings) != 1 {
			t.Errorf("%s: interval %v..%v of few samples, %q", test.name, test.e.Lo, test.e.Hi, test.e.Warnings)
		}
	}
	// t quantile of 3 degrees of freedom at 97.5 %: 3.182446.
	if e := NormalRatio(x, []float64{1, 1, 1, 1}, nil, 0.95); math.Abs((e.Hi-e.Mean)/e.SE-3.182446) > 1e-6 {
		t.Errorf("half width is %v standard errors", (e.Hi-e.Mean)/e.SE)
	}
}

// TestCoverage draws from known distributions and counts how often intervals cover: for a 95 % interval
// 930..970 of 1000 repetitions with probability 0.997, and more often with allowance for a tail.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	covered := make(map[string]int)
	for range 1000 {
		iid, anti, strata, uneven := make([]float64, 64), make([]float64, 64), make([]float64, 64), make([]float64, 16)
		for i := range iid {
			iid[i] = r.Float64() + r.Float64()
			u := r.Float64()
			if i%2 == 0 {
				anti[i], anti[i+1] = math.Exp(u), math.Exp(1-u)
			}
			// The second term is noise within a stratum.
			strata[i] = 3*(float64(i)+u)/64 + r.NormFloat64()
		}
		for i := range uneven {
			uneven[i] = r.NormFloat64() / float64(i+1)
		}
		for name, c := range map[string]struct {
			e    Estimate
			want float64
		}{
			"mean": {Mean(iid, 0), 1}, "pairs": {Groups(anti, 2, 0), math.E - 1}, "strata": {Strata(strata, 0), 1.5}, "uneven strata": {Strata(uneven, 0), 0},
		} {
			if c.e.Lo <= c.want && c.want <= c.e.Hi {
				covered[name]++
			}
		}
	}
	for _, name := range []string{"mean", "pairs", "strata", "uneven strata"} {
		least, most := 930, 990
		switch name {
		case "strata", "uneven strata":
			most = 999 // pairs give conservative degrees of freedom
		}
		if n := covered[name]; n < least || n > most {
			t.Errorf("%s: %d of 1000 intervals cover", name, n)
		}
	}
}

// TestTails draws from distributions of a few values, some of them rare and far: 95 % intervals hold the mean
// in at least 366 of 400 repetitions (fewer have probability 1e-3), are never of width 0, and are infinite if all samples are equal.
func TestTails(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for name, c := range map[string]struct {
		x []float64
		p []float64 // of the first values; the last has the rest
		n int
		f func(x []float64) Estimate
	}{
		"mild":             {[]float64{0, 1, 3}, []float64{0.5, 0.3}, 16, func(x []float64) Estimate { return Mean(x, 0) }},
		"ratio":            {[]float64{0, 1, 4}, []float64{0.6, 0.25}, 24, func(x []float64) Estimate { return Ratio(x, slices.Repeat([]float64{1}, 24), nil, 0) }},
		"skewed":           {[]float64{0, 0.5, 1.5}, []float64{0.6, 0.35}, 32, func(x []float64) Estimate { return Skewed(x, 0) }},
		"more skewed":      {[]float64{0, 0.3, 2}, []float64{0.7, 0.28}, 64, func(x []float64) Estimate { return Skewed(x, 0) }},
		"bounded":          {[]float64{0, 0.1, 0.9}, []float64{0.8, 0.19}, 16, func(x []float64) Estimate { return Bounded(x, 0, 1, 0) }},
		"bounded few":      {[]float64{0, 1}, []float64{0.9}, 4, func(x []float64) Estimate { return Bounded(x, 0, 1, 0) }},
		"bounded, negated": {[]float64{-1, 0, 0.5}, []float64{0.1, 0.6}, 30, func(x []float64) Estimate { return Bounded(x, -1, 0.5, 0) }},
	} {
		last := 1.0
		mean := 0.0
		for i, p := range c.p {
			last -= p
			mean += p * c.x[i]
		}
		mean += last * c.x[len(c.p)]
		held := 0
		for range 400 {
			x := make([]float64, c.n)
			for i := range x {
				u, k := r.Float64(), 0
				for ; k < len(c.p) && u >= c.p[k]; k++ {
					u -= c.p[k]
				}
				x[i] = c.x[k]
			}
			e := c.f(x)
			if e.Lo <= mean && mean <= e.Hi {
				held++
			}
			if equal := slices.Max(x) == slices.Min(x); e.Lo >= e.Hi || equal != math.IsInf(e.SE, 1) || equal && len(e.Warnings) == 0 {
				t.Fatalf("%s: %v gives %+v", name, x, e)
			}
		}
		if held < 366 {
			t.Errorf("%s: %d of 400 intervals hold the mean", name, held)
		}
	}
	if e := Bounded([]float64{0, 0}, 0, 0, 0); e.Mean != 0 || e.SE != 0 || e.Hi != 0 || e.Warnings != nil {
		t.Errorf("exact: %+v", e)
	}
}

// TestCounts compares with the mean of the numbers themselves.
func TestCounts(t *testing.T) {
	for _, x := range [][]int{{3, 5, 5, 8}, {7, 7, 7}, {0, 1}, {1}} {
		sum, squares := 0, 0
		var values []float64
		for _, v := range x {
			sum, squares, values = sum+v, squares+v*v, append(values, float64(v))
		}
		got, want := Counts(sum, float64(squares), len(x), 0.9), NormalRatio(values, slices.Repeat([]float64{1}, len(x)), nil, 0.9)
		if math.Abs(got.Mean-want.Mean) > 1e-15 || got.SE != want.SE && math.Abs(got.SE-want.SE) > 1e-15 || got.N != want.N || got.Lo != want.Lo && math.Abs(got.Lo-want.Lo) > 1e-12 {
			t.Errorf("%v: %+v, want %+v", x, got, want)
		}
	}
	if got := Counts(0, 0, 0, 0.9); !math.IsNaN(got.Mean) || !math.IsInf(got.SE, 1) {
		t.Errorf("nothing: %+v", got)
	}
}

// TestDigits checks that values are printed to the place of the second digit of their error.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		mean, se        float64
		value, interval string
	}{
		{3.92307, 0.0881, "3.923 ± 0.088", "3.747..4.099"},
		{349.33011, 98.2, "349 ± 98", "153..546"},
		{14567.2, 690.2, "14570 ± 690", "13190..15950"},
		{37661, 165528, "40000 ± 170000", "-290000..370000"},
		{-0.001, 0.31, "0.00 ± 0.31", "-0.62..0.62"},
		{3e9, 165528, "3e+09 ± 170000", "3e+09..3e+09"},
		{2, 0, "2 ± 0", "2..2"},
		{0, 0, "0 ± 0", "0..0"},
		{6.66134e-16, 2.7e-15, "7e-16 ± 2.7e-15", "-4.73387e-15..6.06613e-15"},
		{1e12, 2e9, "1e+12 ± 2e+09", "9.96e+11..1.004e+12"},
		{2.5, math.Inf(1), "2.5 ± ?", "-Inf..+Inf"},
	} {
		e := Estimate{Mean: c.mean, SE: c.se, Lo: c.mean - 2*c.se, Hi: c.mean + 2*c.se}
		if e.String() != c.value || e.Interval() != c.interval {
			t.Errorf("%+v is %s and %s, want %s and %s", c, e, e.Interval(), c.value, c.interval)
		}
	}
	if got := (Estimate{Mean: 480, SE: 210, Lo: 1.719, Hi: 132890}).Interval(); got != "1.7..132890" {
		t.Errorf("an interval above 0 is %s", got)
	}
}

// TestWithin checks that an interval is clipped to the possible values and always contains the
// mean.
func TestWithin(t *testing.T) {
	for _, c := range []struct{ mean, lo, hi, wantLo, wantHi float64 }{
		{0.5, -1, 2, 0, 1}, {0.5, 0.2, 0.9, 0.2, 0.9}, {-0.1, -1, 0.5, -0.1, 0.5}, {1.2, 0.5, 3, 0.5, 1.2}, {0.3, math.Inf(-1), math.Inf(1), 0, 1},
	} {
		e := Estimate{Mean: c.mean, Lo: c.lo, Hi: c.hi, SE: 0.7}.Within(0, 1)
		if e.Mean != c.mean || e.SE != 0.7 || e.Lo != c.wantLo || e.Hi != c.wantHi {
			t.Errorf("%v: %+v", c, e)
		}
	}
	if e := (Estimate{Mean: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}).Within(0, 1); e.Lo == 0 || e.Hi == 1 {
		t.Errorf("an unknown mean: %+v", e)
	}
}
