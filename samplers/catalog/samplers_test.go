package catalog_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestDescriptors checks that every sampler has a complete description, that its names are found,
// that all its flags exist, and that it is among those of which tests check what all have in common,
// unless it needs a network with causal rows.
func TestDescriptors(t *testing.T) {
	seen := make(map[string]bool)
	for _, d := range catalog.Descriptors() {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if seen[name] {
				t.Errorf("%s names two samplers", name)
			}
			seen[name] = true
			if got, ok := catalog.Describe(name); !ok || got.Name != d.Name {
				t.Errorf("%s is %q", name, got.Name)
			}
			if s := lawstest.New(t, catalog.Options{Sampler: name}); s.Settings().Sampler != d.Name {
				t.Errorf("%s makes %s", name, s.Settings().Sampler)
			}
		}
		tested := lawstest.Unplanned()
		if lawstest.New(t, catalog.Options{Sampler: d.Name}).Planned() {
			tested = lawstest.Planned
		}
		if d.Kind != samplers.ByOrder && !slices.ContainsFunc(tested, func(o catalog.Options) bool { return cmp.Or(o.Sampler, "fhs") == d.Name }) {
			t.Errorf("%s is not among the samplers of lawstest", d.Name)
		}
		if d.Summary == "" || d.Law == "" || d.Cost == "" || d.Source == "" {
			t.Errorf("%s: something is missing: %+v", d.Name, d)
		}
		for _, f := range d.Flags {
			if !slices.ContainsFunc(catalog.AllOptions(), func(o samplers.Option) bool { return o.Name == f }) {
				t.Errorf("%s: flag %q does not exist", d.Name, f)
			}
		}
		unused, err := catalog.Options{Sampler: d.Name}.Unused()
		if err != nil || len(unused)+len(d.Flags) < len(catalog.AllOptions()) {
			t.Errorf("%s: does not use %v, %v", d.Name, unused, err)
		}
	}
	for _, o := range catalog.AllOptions() {
		if !slices.ContainsFunc(catalog.Descriptors(), func(d catalog.Descriptor) bool { return slices.Contains(d.Flags, o.Name) }) {
			t.Errorf("no sampler has the option %q", o.Name)
		}
	}
	if _, ok := catalog.Describe("gibbs"); ok {
		t.Error("gibbs was found")
	}
}

// FuzzOptions checks that any text is rejected with one line, or makes a sampler whose plans reveal
// or leave every free position once.
func FuzzOptions(f *testing.F) {
	f.Add("fhs", "", "", "", "", 0)
	f.Add("ddpm", "lambda:1,0.5,0", "", "", "", 0)
	f.Add("euler", "paper", "", "", "cosine", 7)
	f.Add("parallel-fhs", "", "2,3", "", "", 0)
	f.Add("ordered", "", "", "4,3,2,1,0", "", 0)
	f.Add("matu", "theta:3,1,0.1", "", "", "", 0)
	f.Add("tweedie", "cos2", "", "", "", 3)
	f.Add("parallel-fhs", "", "1,4", "", "", 0)
	f.Add("parallel-fhs", "", "profile", "", "", 2)
	f.Add("fhs", "", "", "", "\n", 0)
	f.Fuzz(func(t *testing.T, sampler, grid, sizes, order, noise string, steps int) {
		s, err := catalog.New(catalog.Options{Sampler: sampler, Steps: min(steps, 1000), PlanOptions: catalog.PlanOptions{Grid: grid, Sizes: sizes, Order: order, Noise: noise}}, samplers.Spec{})
		var p plan.Plan
		if err == nil {
			m, _ := s.Plan()
			err = m.Plan(&p, draw.NewStream(1, 1), lawstest.UpTo(5))
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		all := slices.Clone(p.Left)
		for _, b := range p.Blocks {
			all = append(all, b.Positions...)
		}
		slices.Sort(all)
		if !slices.Equal(all, lawstest.UpTo(5)) {
			t.Errorf("positions %v", all)
		}
	})
}
