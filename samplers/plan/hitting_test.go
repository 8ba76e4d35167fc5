package plan_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// TestSingleIsFHS checks that with one seed, uniformization and MATU reveal the positions of FHS in
// its order, at its λ times λ_T, and stop at λ_δ, and that DMPM reveals them in its order. On a
// time-free network this gives FHS's tokens.
func TestSingleIsFHS(t *testing.T) {
	fhs := lawstest.New(t, catalog.Options{})
	for _, name := range []string{"uniformization", "matu", "dmpm"} {
		s := lawstest.New(t, catalog.Options{Sampler: name, Steps: 6, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(5)), Delta: new(catalog.Theta(0.01)), Finish: "leave"}})
		steps, _ := s.Grid()
		var p, q plan.Plan
		full := 0
		for i := range uint64(50) {
			lawstest.DrawPlan(t, s, &p, 3, i, lawstest.UpTo(12))
			lawstest.DrawPlan(t, fhs, &q, 3, i, lawstest.UpTo(12))
			for j, b := range p.Blocks {
				hit := q.Blocks[j]
				if !slices.Equal(b.Positions, hit.Positions) {
					t.Fatalf("%s: block %d reveals %v, FHS %v", name, j, b.Positions, hit.Positions)
				}
				want := hit.Lambda * steps.Grid.Lambda[0]
				if name == "dmpm" {
					want = steps.Grid.Lambda[b.Step]
				}
				if b.Lambda != want || b.Lambda > steps.Grid.Lambda[b.Step] || b.Lambda < steps.Grid.Lambda[b.Step+1] {
					t.Fatalf("%s: asked at λ = %v in segment %d, want %v", name, b.Lambda, b.Step, want)
				}
			}
			if len(p.Left) == 0 {
				full++
			}
		}
		if full == 0 && name != "dmpm" {
			t.Errorf("%s: every plan left something", name)
		}
	}
	net := lawstest.NewHashNet(false)
	seqs := samplers.Copies(slices.Repeat([]int{6}, 5), 0, 40)
	want, _ := lawstest.Collect(t, net, seqs, lawstest.Config(fhs, 4))
	s := lawstest.New(t, catalog.Options{Sampler: "matu", Steps: 20})
	got, _ := lawstest.Collect(t, net, seqs, lawstest.Config(s, 4))
	same := 0
	for i, r := range got {
		if r.FinishCalls == 0 {
			same++
			if !slices.Equal(r.IDs, want[i].IDs) {
				t.Errorf("sequence %d: %v, FHS has %v", i, r.IDs, want[i].IDs)
			}
		}
	}
	if same < 30 {
		t.Errorf("%d of 40 sequences finished", same)
	}
}
