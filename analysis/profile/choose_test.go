package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mdmgen/samplers/schedule"
)

// TestChoose: the chosen schedule beats the rules of thumb by what the truth says, on
// windows that it was not chosen by, and the one to use is that of all windows.
func TestChoose(t *testing.T) {
	c := truth(32)
	var nelbo float64
	for _, v := range c {
		nelbo += v
	}
	p := drawn(t, rand.New(rand.NewPCG(4, 2)), c, 200, 32)
	for _, n := range []int{1, 4, 16} {
		got, err := p.Choose(n, 0.99)
		if err != nil {
			t.Fatal(err)
		}
		_, least := schedule.BestSizes(c, n)
		least -= nelbo
		truly := func(s Judged) float64 { return schedule.SizesCost(c, s.Sizes) - nelbo }
		for name, s := range map[string]Judged{"chosen": got.Chosen, "equal": got.Equal} {
			x := truly(s)
			if x < s.Excess.Lo || x > s.Excess.Hi {
				t.Errorf("%d %s: excess %v..%v, truly %v", n, name, s.Excess.Lo, s.Excess.Hi, x)
			}
			if x < least-1e-9 {
				t.Errorf("%d %s: excess %v is below the least, %v", n, name, x, least)
			}
		}
		if x := truly(got.Chosen); x > least*1.25+0.05 {
			t.Errorf("%d: chosen costs %v, the best %v: more than noise explains", n, x, least)
		}
		if x := truly(got.Chosen) - truly(got.Equal); x < got.Gain.Lo-1e-9 || x > got.Gain.Hi+1e-9 {
			t.Errorf("%d: gain %v, truly %v", n, got.Gain, x)
		}
		if want, cost := schedule.BestSizes(p.Falling(), n); !slices.Equal(got.Use, want) || len(got.Use) != n || math.Abs(cost-got.Predicted-sum(p.Falling())) > 1e-9 {
			t.Errorf("%d: to use %+v, predicted %v", n, got.Use, got.Predicted)
		}
	}
	if _, err := p.Choose(33, 0); err == nil || !strings.Contains(err.Error(), "1..32") {
		t.Errorf("33 blocks of 32 positions: %v", err)
	}
}

func sum(x []float64) (out float64) {
	for _, v := range x {
		out += v
	}
	return out
}
