package spread_test

import (
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// listed are samplers with listed plans.
var listed = []catalog.Options{
	{Sampler: "dus"},
	{Sampler: "spread", Steps: 2}, {Sampler: "spread", Steps: 3},
}

// TestListedPlans checks that plans are drawn as they are listed, for dense and for scattered positions.
func TestListedPlans(t *testing.T) {
	reftest.Long(t)
	const n = 20000
	for _, o := range listed {
		if o.Sizes != "" {
			o.Sizes = "2,1,2"
		}
		s := lawstest.New(t, o)
		for _, free := range [][]int{{0, 1, 2, 3, 4}, {2, 3, 7, 8, 20}} {
			count := make(map[string]float64)
			var p plan.Plan
			law := s.Law().(samplers.ByList)
			plans := int(law.Plans(len(free)))
			for i := range plans {
				count[lawstest.PlanKey(reftest.Must(law.Groups(free, i))(t))]++
			}
			var want []float64
			at := make(map[string]int)
			for key, c := range count {
				at[key] = len(want)
				want = append(want, c/float64(plans))
			}
			got := make([]int, len(want))
			for i := range uint64(n) {
				lawstest.DrawPlan(t, s, &p, 11, i, free)
				k, ok := at[lawstest.PlanKey(lawstest.Groups(&p))]
				if !ok {
					t.Fatalf("%v: plan %v is drawn and not listed", s, lawstest.Groups(&p))
				}
				got[k]++
			}
			if p := reftest.Goodness(got, want); len(want) > 1 && p < 1e-4 {
				t.Errorf("%v on %v: %d plans, p = %v", s, free, len(want), p)
			}
		}
	}
}
