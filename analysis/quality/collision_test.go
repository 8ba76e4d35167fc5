package quality_test

import (
	"math"
	"testing"

	"mdmgen/analysis/quality"
	"mdmgen/analysis/theory"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestCollision compares with closed forms.
func TestCollision(t *testing.T) {
	const d = 10
	make := func(o catalog.Options) *catalog.Sampler {
		return reftest.Must(catalog.New(o, samplers.Spec{}))(t)
	}
	euler := make(catalog.Options{Sampler: "euler", Steps: 16})
	steps, _ := euler.Steps()
	for _, c := range []struct {
		name string
		s    *catalog.Sampler
		want float64
	}{
		{"euler", euler, theory.LogCollisionBound(d, steps.Reveal, steps.Left(), true)},
		{"fhs", make(catalog.Options{}), 0},
		{"random order", make(catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), 0},
		{"blocks", make(catalog.Options{Sampler: "parallel-fhs", Steps: 4}), math.Inf(-1)},
		{"blocks of one", make(catalog.Options{Sampler: "parallel-fhs", Steps: d}), 0},
	} {
		if got, err := quality.Collision(c.s, d); err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	reftest.Fails(t, reftest.Err(quality.Collision(make(catalog.Options{Sampler: "ordered"}), d)), "", "an order has a collision bound")
	reftest.Fails(t, reftest.Err(quality.Collision(euler, 0)), "", "no positions")
	reftest.Fails(t, reftest.Err(quality.Collision(make(catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,3"}}), d)), "", "sizes that do not fit")
	leave := make(catalog.Options{Sampler: "euler", Steps: 16, PlanOptions: catalog.PlanOptions{Finish: "leave"}})
	if got, want := math.Exp(quality.LogClean(leave, d)), math.Pow(1-steps.Left(), d); math.Abs(got-want) > 1e-12 || quality.LogClean(euler, d) != 0 {
		t.Errorf("clean mass %v, want %v", got, want)
	}
}
