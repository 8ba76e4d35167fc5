package samplers_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// TestOwnSeed checks that a sequence with its own seed has the ids of its stream under that seed,
// and keeps its own index.
func TestOwnSeed(t *testing.T) {
	canvas := slices.Repeat([]int{6}, 12)
	want, _ := lawstest.Collect(t, lawstest.NewHashNet(false), slices.Values([]samplers.Sequence{{Index: 3, Canvas: canvas}}), samplers.Config{Method: plan.NewFHS(0), Seed: 8})
	seed, steps := uint64(8), 0
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: 5, OnStep: func(s samplers.Step) {
		if steps++; s.Index != 40 || s.Result != nil && s.Result.Index != 40 {
			t.Errorf("a step of sequence %d, want 40", s.Index)
		}
	}}
	got, _ := lawstest.Collect(t, lawstest.NewHashNet(false), slices.Values([]samplers.Sequence{{Index: 40, Canvas: canvas, Seed: &seed, Stream: 3}}), cfg)
	if len(got) != 1 || steps != 12 || !slices.Equal(got[40].IDs, want[3].IDs) {
		t.Errorf("%d steps and %v, want 12 and the ids %v", steps, got, want[3].IDs)
	}
}
