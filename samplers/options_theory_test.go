package samplers_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// profile is a loss profile of four positions: that of the reference world markov4-sharp, to four digits.
var profile = []float64{0.9976, 0.8715, 0.7830, 0.7148}

// TestProfileGrid checks that the grid named profile is the best one for the profile, mapped to the
// sampler's ends.
func TestProfileGrid(t *testing.T) {
	best := schedule.BestGrid(profile, 3)
	s := mustNew(t, catalog.Options{Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "profile", Profile: profile}})
	if steps, _ := s.Grid(); !slices.Equal(steps.Grid.Lambda, best) {
		t.Errorf("grid %v, want %v", steps.Grid.Lambda, best)
	}
	T, delta := 3.0, 0.1
	s = mustNew(t, catalog.Options{Sampler: "euler", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "profile", Profile: profile, T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta)}})
	steps, _ := s.Grid()
	first, last := -math.Expm1(-T), -math.Expm1(-delta)
	for k, x := range best {
		if want := last + (first-last)*x; math.Abs(steps.Grid.Lambda[k]-want) > 1e-15 {
			t.Errorf("λ_%d = %v, want %v", k, steps.Grid.Lambda[k], want)
		}
	}
}

// TestProfileSizes checks that sizes are the best for the number of free positions, with the loss
// as a function of the visible fraction, and do not depend on earlier calls.
func TestProfileSizes(t *testing.T) {
	sizes := func(s *catalog.Sampler, d int) []int {
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(d))
		var out []int
		for _, b := range p.Blocks {
			out = append(out, len(b.Positions))
		}
		return out
	}
	s := mustNew(t, catalog.Options{Sampler: "parallel-fhs", Steps: 3, PlanOptions: catalog.PlanOptions{Sizes: "profile", Profile: profile}})
	// Twice as finely spaced, the loss is linear between the values of the profile.
	fine := []float64{profile[0], (profile[0] + profile[1]) / 2, profile[1], (profile[1] + profile[2]) / 2, profile[2], (profile[2] + profile[3]) / 2, profile[3]}
	for d, c := range map[int][]float64{4: profile, 7: fine, 2: {profile[0], profile[3]}, 1: profile[:1]} {
		want, _ := schedule.BestSizes(c, 3)
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				if got := sizes(s, d); !slices.Equal(got, want) {
					t.Errorf("d = %d: sizes %v, want %v", d, got, want)
				}
			})
		}
		wait.Wait()
		if calls, _, err := s.ExpectedCalls(d); err != nil || calls != float64(len(want)) {
			t.Errorf("d = %d: expects %v calls, %v, want %d", d, calls, err, len(want))
		}
	}
	want, _ := schedule.BestSizes(slices.Repeat([]float64{2}, 6), 2)
	if got := sizes(mustNew(t, catalog.Options{Sampler: "parallel-fhs", Steps: 2, PlanOptions: catalog.PlanOptions{Sizes: "profile", Profile: []float64{2}}}), 6); !slices.Equal(got, want) {
		t.Errorf("a profile of one value: sizes %v, want %v", got, want)
	}
}
