package quality_test

import (
	"math"
	"testing"

	"mdmgen/analysis/quality"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestCollision compares log p* of samplers with closed forms.
func TestCollision(t *testing.T) {
	const d = 10
	make := func(o catalog.Options) *catalog.Sampler {
		return reftest.Must(catalog.New(o, samplers.Spec{}))(t)
	}
	euler, leave := make(catalog.Options{Sampler: "euler", Steps: 16}), make(catalog.Options{Sampler: "euler", Steps: 16, PlanOptions: catalog.PlanOptions{Finish: "leave"}})
	steps, _ := euler.Grid()
	dmpm := make(catalog.Options{Sampler: "dmpm", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}})
	left := dmpm.Left()
	for _, c := range []struct {
		name string
		s    *catalog.Sampler
		want float64
	}{
		{"euler", euler, steps.LogApart(d, true)},
		{"euler with masks left", leave, steps.LogApart(d, false)},
		{"fhs", make(catalog.Options{}), 0},
		{"random order", make(catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), 0},
		{"blocks", make(catalog.Options{Sampler: "parallel-fhs", Steps: 4}), math.Inf(-1)},
		{"blocks of one", make(catalog.Options{Sampler: "parallel-fhs", Steps: d}), 0},
		{"blocks of random sizes", make(catalog.Options{Sampler: "random-sizes", Steps: 4}), math.Inf(-1)},
		{"random sizes of one", make(catalog.Options{Sampler: "random-sizes", Steps: d}), 0},
		// None is left, or at most one if a last call fills the rest.
		{"one by one with masks left", dmpm, d * math.Log1p(-left)},
		{"one by one", make(catalog.Options{Sampler: "dmpm", Steps: 4}), math.Log(math.Pow(1-left, d) + d*left*math.Pow(1-left, d-1))},
	} {
		if got, err := c.s.Collision(d); err != nil || got != c.want && !(math.Abs(got-c.want) <= 1e-14*max(1, math.Abs(c.want))) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	if !(left > 0 && steps.Left() > 0) {
		t.Error("nothing is left masked")
	}
	reftest.Fails(t, reftest.Err(make(catalog.Options{Sampler: "ordered"}).Collision(d)), "its order is not uniform", "an order has a collision bound")
	reftest.Fails(t, reftest.Err(make(catalog.Options{Sampler: "confidence"}).Collision(d)), "no plan", "a decoder has a collision bound")
	reftest.Fails(t, reftest.Err(make(catalog.Options{Sampler: "remdm"}).Collision(d)), "no plan", "a remasking sampler has a collision bound")
	reftest.Fails(t, reftest.Err(euler.Collision(0)), "at least 1", "no positions")
	reftest.Fails(t, reftest.Err(make(catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,3"}}).Collision(d)), "", "sizes that do not fit")
	w, _, e := openWorld(t, "xor3-mixed")
	left3 := newSampler(t, catalog.Options{Sampler: "euler", Steps: 16, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, w)
	filled := newSampler(t, catalog.Options{Sampler: "euler", Steps: 16}, w)
	st := measured(t, e, blank(3), []*catalog.Sampler{left3, filled}, quality.Config{Samples: 1})
	if want := math.Pow(1-left3.Left(), 3); math.Abs(st.Clean[0]-want) > 1e-12 || want == 1 || st.Clean[1] != 1 || filled.Left() != 0 {
		t.Errorf("nothing is left with probability %v, want %v and 1", st.Clean, want)
	}
}
