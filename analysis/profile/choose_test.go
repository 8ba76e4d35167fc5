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
			var names []string
			for _, s := range got.Schedules {
				names = append(names, s.Name)
				weights := s.Weights(32)
				truly := 0.0
				for j, w := range weights {
					truly += w * c[j]
				}
				if truly < s.Excess.Lo || truly > s.Excess.Hi {
					t.Errorf("%s %d %s: excess %v..%v, truly %v", kind, n, s.Name, s.Excess.Lo, s.Excess.Hi, truly)
				}
				if truly < least(n)-1e-9 {
					t.Errorf("%s %d %s: excess %v is below the least, %v", kind, n, s.Name, truly, least(n))
				}
				if s.Name == "chosen" && truly > least(n)*1.25+0.05 {
					t.Errorf("%s %d: chosen costs %v, the best %v: more than noise explains", kind, n, truly, least(n))
				}
				if s.Gain == nil != (s.Name == "chosen") {
					t.Errorf("%s %d %s: gain %v", kind, n, s.Name, s.Gain)
				}
			}
			if names = slices.DeleteFunc(names, func(s string) bool { return s == "unforced" }); strings.Join(names, " ") != "chosen equal cos2 cosine" {
				t.Errorf("schedules %v", names)
			}
			if want, cost := best(kind, p.Falling(), n); !slices.Equal(got.Use.Sizes, want.Sizes) || !slices.Equal(got.Use.Lambda, want.Lambda) || got.Use.blocks() != n ||
				math.Abs(cost-got.Predicted-sum(p.Falling())) > 1e-9 {
				t.Errorf("%s %d: to use %+v, predicted %v", kind, n, got.Use, got.Predicted)
			}
		}
	}
}

func sum(x []float64) (out float64) {
	for _, v := range x {
		out += v
	}
	return out
}

// TestUnforced: where the measured loss rises, a schedule with fewer calls than it may have
// is told of, with what it saves on the other half.
func TestUnforced(t *testing.T) {
	one := NewTerms([]int{1, 1, 1, 1}, []float64{1, 2, 2, 2})
	p, err := New(4, true, []int{0, 1, 2, 3}, []Terms{one, one, one, one})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Choose(Sizes, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := got.Schedules[len(got.Schedules)-1]
	if last.Name != "unforced" || !slices.Equal(last.Sizes, []int{4}) || last.Excess.Mean != -3 || last.Gain.Mean != 3 || len(got.Use.Sizes) != 4 {
		t.Errorf("got %+v", last)
	}
	if _, err := p.Choose(Sizes, 5, 0); err == nil || !strings.Contains(err.Error(), "1..4") {
		t.Errorf("5 blocks of 4 positions: %v", err)
	}
	if _, err := p.Choose(Grid, MaxSteps+1, 0); err == nil {
		t.Error("a grid of too many steps was chosen")
	}
}
