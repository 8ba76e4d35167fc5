package samplers_test

import (
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// listed are samplers with listed plans.
var listed = []catalog.Options{
	{Sampler: "dus"},
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
