package bound_test

import (
	"strings"
	"testing"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestCausalExact checks that a report whose laws are all exact says nothing of bounds by paths.
func TestCausalExact(t *testing.T) {
	w := lawstest.NewCausal(t, 9, 4, 2, 3, 0.6)
	e := reftest.Must(likelihood.New(w, likelihood.Options{Blocks: true}))(t)
	s := lawstest.NewFor(t, catalog.Options{Sampler: "parallel-fhs", Steps: 2}, w.Spec())
	cfg := bound.Config{Cases: []bound.Case{{Name: "parallel-fhs", N: 2, Sampler: s}}, Draws: 8, Plans: 16}
	r := reftest.Must(bound.Causal(t.Context(), e, likelihood.Target{IDs: make([]int, 4), Free: []int{1, 2, 3}}, cfg))(t)
	if notes := strings.Join(r.Notes, " "); len(r.Lines) != 1 || r.Lines[0].Left.Bound != "" || strings.Contains(notes, "paths") {
		t.Errorf("%+v, notes %q", r.Lines, notes)
	}
}
