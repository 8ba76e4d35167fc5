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
	for kind, least := range map[Kind]func(n int) float64{
		Sizes: func(n int) float64 { _, cost := schedule.BestSizes(c, n); return cost - nelbo },
		Grid:  func(n int) float64 { _, cost := schedule.BestGrid(c, n); return cost - nelbo },
	} {
		for _, n := range []int{1, 4, 16} {
			got, err := p.Choose(kind, n, 0.99)
			if err != nil {
				t.Fatal(err)
			}
			truly := func(s Judged) (sum float64) {
				for j, w := range s.Weights(32) {
					sum += w * c[j]
				}
				return sum
			}
			for name, s := range map[string]Judged{"chosen": got.Chosen, "equal": got.Equal} {
				x := truly(s)
				if x < s.Excess.Lo || x > s.Excess.Hi {
					t.Errorf("%s %d %s: excess %v..%v, truly %v", kind, n, name, s.Excess.Lo, s.Excess.Hi, x)
				}
				if x < least(n)-1e-9 {
					t.Errorf("%s %d %s: excess %v is below the least, %v", kind, n, name, x, least(n))
				}
			}
			if x := truly(got.Chosen); x > least(n)*1.25+0.05 {
				t.Errorf("%s %d: chosen costs %v, the best %v: more than noise explains", kind, n, x, least(n))
			}
			if x := truly(got.Chosen) - truly(got.Equal); x < got.Gain.Lo-1e-9 || x > got.Gain.Hi+1e-9 {
				t.Errorf("%s %d: gain %v, truly %v", kind, n, got.Gain, x)
			}
			if want, cost := best(kind, p.Falling(), n); !slices.Equal(got.Use.Sizes, want.Sizes) || !slices.Equal(got.Use.Lambda, want.Lambda) || len(got.Use.Sizes)+max(len(got.Use.Lambda)-1, 0) != n ||
				math.Abs(cost-got.Predicted-sum(p.Falling())) > 1e-9 {
				t.Errorf("%s %d: to use %+v, predicted %v", kind, n, got.Use, got.Predicted)
			}
		}
	}
	if _, err := p.Choose(Sizes, 33, 0); err == nil || !strings.Contains(err.Error(), "1..32") {
		t.Errorf("33 blocks of 32 positions: %v", err)
	}
	if _, err := p.Choose(Grid, MaxSteps+1, 0); err == nil {
		t.Error("a grid of too many steps was chosen")
	}
}

func sum(x []float64) (out float64) {
	for _, v := range x {
		out += v
	}
	return out
}
