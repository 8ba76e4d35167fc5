package likelihood_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// TestListed checks that the likelihood of samplers that list their plans is the mean over plans of
// the product of rows, on every network, and sums to 1 over texts.
func TestListed(t *testing.T) {
	for name, w := range worlds(t) {
		f := w.Facts()
		if f.TimeConditioned {
			continue
		}
		d, v := f.Length, f.Columns
		e := evaluator(t, w)
		free := likelihood.Whole(sequence(0, d, v)).Free
		for _, o := range []catalog.Options{
			{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}},
			{Sampler: "spread", Steps: 2},
		} {
			s := reftest.Must(catalog.New(o, samplers.Spec{}))(t)
			plans, total := int(s.Plans(d)), 0.0
			for index := range int(math.Pow(float64(v), float64(d))) {
				text := sequence(index, d, v)
				var want float64
				for i := range plans {
					var p plan.Plan
					reftest.OK(t, s.ListPlan(&p, free, i))
					canvas, q := slices.Repeat([]int{f.MaskID}, d), 1.0
					for _, b := range p.Blocks {
						state := w.State(canvas)
						for _, l := range b.Positions {
							row := make([]float64, v)
							w.Mu(row, state, l, 0)
							q *= row[text[l]]
							canvas[l] = text[l]
						}
					}
					want += q / float64(plans)
				}
				got := reftest.Must(e.Exact(context.Background(), likelihood.Whole(text), s))(t)
				p := math.Exp(-got.NegLog)
				if math.Abs(p-want) > 1e-6*want+1e-12 {
					t.Errorf("%s, %v, text %v: %v, want %v", name, s, text, p, want)
				}
				total += p
			}
			if math.Abs(total-1) > 1e-6 {
				t.Errorf("%s, %v: texts sum to %v", name, s, total)
			}
		}
	}
}
