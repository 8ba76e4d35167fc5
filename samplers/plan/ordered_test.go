package plan_test

import (
	"reflect"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestOrders checks the ordered sampler's orders, and the λ of its queries.
func TestOrders(t *testing.T) {
	free := []int{1, 3, 4, 8}
	var p plan.Plan
	for order, want := range map[string][]int{
		"":              {1, 3, 4, 8},
		"left-to-right": {1, 3, 4, 8},
		"right-to-left": {8, 4, 3, 1},
		"8,7,1,0,4,3":   {8, 1, 4, 3},
	} {
		lawstest.DrawPlan(t, lawstest.New(t, catalog.Options{Sampler: "ar", PlanOptions: catalog.PlanOptions{Order: order}}), &p, 1, 1, free)
		var got []int
		for i, b := range p.Blocks {
			got = append(got, b.Positions...)
			if want := float64(4-i) / 5; b.Lambda != want {
				t.Errorf("%s: λ = %v with %d of 4 masked, want %v", order, b.Lambda, 4-i, want)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", order, got, want)
		}
	}
	s := lawstest.New(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "8,1,4"}})
	reftest.Fails(t, lawstest.Method(t, s).Plan(&p, draw.NewStream(1, 1), free), "position 3", "an order that leaves out position 3")
	var q plan.Plan
	lawstest.DrawPlan(t, lawstest.New(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), &p, 1, 1, free)
	lawstest.DrawPlan(t, lawstest.New(t, catalog.Options{}), &q, 1, 1, free)
	for i := range p.Blocks {
		if !reflect.DeepEqual(p.Blocks[i].Positions, q.Blocks[i].Positions) {
			t.Errorf("random order and fhs differ in block %d", i)
		}
	}
}
