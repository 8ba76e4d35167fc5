package samplers_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// listed are samplers with listed plans.
var listed = []catalog.Options{
	{Sampler: "apart", Steps: 2, Distance: 2}, {Sampler: "apart", Steps: 1, Distance: 3},
	{Sampler: "dilated", Steps: 2}, {Sampler: "dilated", Steps: 3},
	{Sampler: "dus"},
	{Sampler: "bisection", Steps: 2}, {Sampler: "bisection", Sizes: "1,1,1"},
	{Sampler: "spread", Steps: 2}, {Sampler: "spread", Steps: 3},
}

// planKey returns a name for the groups of a plan.
func planKey(p *plan.Plan) string {
	var key string
	for _, b := range p.Blocks {
		key += fmt.Sprint(slices.Sorted(slices.Values(b.Positions)))
	}
	return key
}

// TestListedPlans checks that plans are drawn as they are listed, for dense and for scattered positions.
func TestListedPlans(t *testing.T) {
	const n = 20000
	for _, o := range listed {
		if o.Sizes != "" {
			o.Sizes = "2,1,2"
		}
		s := mustNew(t, o)
		for _, free := range [][]int{{0, 1, 2, 3, 4}, {2, 3, 7, 8, 20}} {
			count := make(map[string]float64)
			var p plan.Plan
			plans := int(s.Plans(len(free)))
			for i := range plans {
				reftest.OK(t, s.ListPlan(&p, free, i))
				count[planKey(&p)]++
			}
			var want []float64
			at := make(map[string]int)
			for key, c := range count {
				at[key] = len(want)
				want = append(want, c/float64(plans))
			}
			got := make([]int, len(want))
			for i := range uint64(n) {
				drawPlan(t, s, &p, 11, i, free)
				k, ok := at[planKey(&p)]
				if !ok {
					t.Fatalf("%v: plan %s is drawn and not listed", s, planKey(&p))
				}
				got[k]++
			}
			if p := reftest.Goodness(got, want); len(want) > 1 && p < 1e-4 {
				t.Errorf("%v on %v: %d plans, p = %v", s, free, len(want), p)
			}
		}
	}
}

// TestListedLaws checks that samples have the mean over listed plans of the product of rows.
func TestListedLaws(t *testing.T) {
	const n = 20000
	for _, i := range []int{1, 3} {
		w := openWorld(t, i)
		canvas := allMask(w)
		for _, o := range listed {
			s := newSampler(t, w, o)
			law := make([]float64, len(spread(w, nil)))
			plans := int(s.Plans(len(canvas)))
			var p plan.Plan
			for k := range plans {
				reftest.OK(t, s.ListPlan(&p, upTo(len(canvas)), k))
				var fill func(at []int, blocks []plan.Block, q float64)
				fill = func(at []int, blocks []plan.Block, q float64) {
					if len(blocks) == 0 {
						law[w.State(at)] += q / float64(plans)
						return
					}
					fillAll(plainRow(w), at, slices.Clone(at), blocks[0].Positions, q, func(next []int, q float64) { fill(next, blocks[1:], q) })
				}
				fill(canvas, p.Blocks, 1)
			}
			got := sampleMany(t, w, s, 21, n)
			fits(t, got.states, law, 1e-4, worldNames[i], s)
			if want, _, _ := s.ExpectedCalls(len(canvas)); !math.IsNaN(want) && got.calls.sum != want*n {
				t.Errorf("%v: %v calls, want %v", s, got.calls.sum/n, want)
			}
		}
	}
}
