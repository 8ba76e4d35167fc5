package lawstest

import (
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// Method returns the method that draws a sampler's plans.
func Method(t testing.TB, s *catalog.Sampler) *plan.Method {
	t.Helper()
	m, ok := s.Plan()
	if !ok {
		t.Fatalf("%v has no plan", s)
	}
	return m
}

// DrawPlan draws the plan of a sequence.
func DrawPlan(t testing.TB, s *catalog.Sampler, p *plan.Plan, seed, index uint64, free []int) {
	t.Helper()
	reftest.OK(t, Method(t, s).Plan(p, draw.NewNumbers(seed, index), free))
}

// UpTo returns 0 to n−1.
func UpTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Groups returns the groups of a plan.
func Groups(p *plan.Plan) (out [][]int) {
	for _, b := range p.Blocks {
		out = append(out, b.Positions)
	}
	return out
}

// PlanKey returns a name for the groups of a plan.
func PlanKey(groups [][]int) string {
	var key string
	for _, group := range groups {
		key += fmt.Sprint(slices.Sorted(slices.Values(group)))
	}
	return key
}
