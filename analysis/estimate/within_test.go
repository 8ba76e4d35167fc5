package estimate

import (
	"math"
	"testing"
)

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
