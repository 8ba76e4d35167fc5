package catalog_test

import (
	"math"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestCollision compares log p* of samplers with closed forms.
func TestCollision(t *testing.T) {
	const d = 10
	euler, leave := lawstest.New(t, catalog.Options{Sampler: "euler", Steps: 16}), lawstest.New(t, catalog.Options{Sampler: "euler", Steps: 16, PlanOptions: catalog.PlanOptions{Finish: "leave"}})
	steps, _ := euler.Grid()
	dmpm := lawstest.New(t, catalog.Options{Sampler: "dmpm", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}})
	left := dmpm.Left()
	for _, c := range []struct {
		name string
		s    *catalog.Sampler
		want float64
	}{
		{"euler", euler, steps.LogApart(d, true)},
		{"euler with masks left", leave, steps.LogApart(d, false)},
		{"fhs", lawstest.New(t, catalog.Options{}), 0},
		{"random order", lawstest.New(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), 0},
		{"blocks", lawstest.New(t, catalog.Options{Sampler: "parallel-fhs", Steps: 4}), math.Inf(-1)},
		{"blocks of one", lawstest.New(t, catalog.Options{Sampler: "parallel-fhs", Steps: d}), 0},
		{"blocks of random sizes", lawstest.New(t, catalog.Options{Sampler: "random-sizes", Steps: 4}), math.Inf(-1)},
		{"random sizes of one", lawstest.New(t, catalog.Options{Sampler: "random-sizes", Steps: d}), 0},
		// None is left, or at most one if a last call fills the rest.
		{"one by one with masks left", dmpm, d * math.Log1p(-left)},
		{"one by one", lawstest.New(t, catalog.Options{Sampler: "dmpm", Steps: 4}), math.Log(math.Pow(1-left, d) + d*left*math.Pow(1-left, d-1))},
	} {
		if got, err := c.s.Collision(d); err != nil || !reftest.Near(got, c.want, 1e-14) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	if !(left > 0 && steps.Left() > 0) {
		t.Error("nothing is left masked")
	}
	reftest.Fails(t, reftest.Err(lawstest.New(t, catalog.Options{Sampler: "ordered"}).Collision(d)), "its order is not uniform", "an order has a collision bound")
	reftest.Fails(t, reftest.Err(lawstest.New(t, catalog.Options{Sampler: "confidence"}).Collision(d)), "no plan", "a decoder has a collision bound")
	reftest.Fails(t, reftest.Err(lawstest.New(t, catalog.Options{Sampler: "remdm"}).Collision(d)), "no plan", "a remasking sampler has a collision bound")
	reftest.Fails(t, reftest.Err(euler.Collision(0)), "at least 1", "no positions")
	reftest.Fails(t, reftest.Err(lawstest.New(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,3"}}).Collision(d)), "", "sizes that do not fit")
}
