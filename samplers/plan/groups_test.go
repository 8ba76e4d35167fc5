package plan_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestSizes checks the groups of parallel-fhs.
func TestSizes(t *testing.T) {
	for _, test := range []struct {
		sizes    string
		steps, d int
		want     []int
	}{
		{"equal", 4, 12, []int{3, 3, 3, 3}},
		{"equal", 4, 10, []int{2, 3, 2, 3}},
		{"", 200, 3, []int{1, 1, 1}},
		{"cos2", 4, 100, []int{15, 35, 35, 15}},
		{"cos2", 2, 10, []int{5, 5}},
		{"cosine", 4, 100, []int{8, 21, 33, 38}},
		{"cosine", 5, 6, []int{1, 1, 1, 1, 2}},
		{"cos2", 4, 4, []int{1, 1, 1, 1}},
		{"3,1,2", 0, 6, []int{3, 1, 2}},
		{"equal", 5, 0, nil},
	} {
		s := lawstest.New(t, catalog.Options{Sampler: "parallel-fhs", Steps: test.steps, PlanOptions: catalog.PlanOptions{Sizes: test.sizes}})
		var p plan.Plan
		lawstest.DrawPlan(t, s, &p, 1, 1, lawstest.UpTo(test.d))
		var got []int
		for _, b := range p.Blocks {
			got = append(got, len(b.Positions))
			if b.Lambda != b.Hits[0] {
				t.Errorf("%s: asked at %v, first hit at %v", test.sizes, b.Lambda, b.Hits[0])
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q in %d of %d: %v, want %v", test.sizes, test.steps, test.d, got, test.want)
		}
		if calls, finish, err := s.ExpectedCalls(test.d); calls != float64(len(test.want)) || finish != 0 || err != nil {
			t.Errorf("%q: expects %v calls, %v, %v", test.sizes, calls, finish, err)
		}
	}
	s := lawstest.New(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,1,2"}})
	err := lawstest.Method(t, s).Plan(new(plan.Plan), draw.NewStream(1, 1), lawstest.UpTo(7))
	reftest.Fails(t, err, "sum to 6", "sizes that do not fit")
}

// TestGroupsOfOneAreFHS checks this sample for sample, also with a time-conditioned network.
func TestGroupsOfOneAreFHS(t *testing.T) {
	for _, timed := range []bool{false, true} {
		net := lawstest.NewHashNet(timed)
		seqs := samplers.Copies(slices.Repeat([]int{6}, 5), 0, 30)
		want, _ := lawstest.Collect(t, net, seqs, lawstest.Config(nil, 4))
		for _, o := range []catalog.Options{{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,1,1,1,1"}}, {Sampler: "parallel-fhs"}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "cos2"}}} {
			if got, _ := lawstest.Collect(t, net, seqs, lawstest.Config(lawstest.New(t, o), 4)); !lawstest.SameIDs(got, want) {
				t.Errorf("timed %v: %+v differs from fhs", timed, o)
			}
		}
		if got, _ := lawstest.Collect(t, net, seqs, lawstest.Config(lawstest.New(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), 4)); !timed && !lawstest.SameIDs(got, want) {
			t.Error("random order differs from fhs on a network without time")
		}
	}
}
