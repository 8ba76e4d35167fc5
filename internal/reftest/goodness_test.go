package reftest

import (
	"math"
	"testing"
)

func TestGoodness(t *testing.T) {
	fair := []float64{0.25, 0.25, 0.25, 0.25, 0}
	for name, c := range map[string]struct {
		counts      []int
		of          []float64
		least, most float64
	}{
		"as expected":         {[]int{251, 249, 250, 250, 0}, fair, 0.9, 1},
		"other probabilities": {[]int{350, 150, 250, 250, 0}, fair, 0, 1e-9},
		"impossible":          {[]int{250, 250, 250, 249, 1}, fair, 0, 0},
		"no counts":           {make([]int, 5), fair, 0, 0},
		"not a number":        {[]int{250, 250, 250, 250, 0}, []float64{0.25, 0.25, 0.25, math.NaN(), 0}, 0, 0},
		// χ² = 4 with one degree of freedom: P = erfc(√2).
		"by hand": {[]int{60, 40}, []float64{0.5, 0.5}, math.Erfc(math.Sqrt2) - 1e-12, math.Erfc(math.Sqrt2) + 1e-12},
	} {
		if p := Goodness(c.counts, c.of); !(p >= c.least && p <= c.most) {
			t.Errorf("%s: p = %v, want %v to %v", name, p, c.least, c.most)
		}
	}
}

func TestNear(t *testing.T) {
	inf := math.Inf(1)
	if !Near(inf, inf, 0) || !Near(2, 2.1, 0.05) || Near(2, 2.2, 0.05) || Near(2, inf, 0.05) || Near(inf, 2, 0.05) || Near(math.NaN(), 2, 0.05) {
		t.Error("not as described")
	}
}
