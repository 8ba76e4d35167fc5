package main

import (
	"context"
	"fmt"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/tools/internal/fatal"
)

// audited lists the samplers whose groups are compared, with their numbers of calls.
var audited = []struct {
	catalog.Options
	steps []int
}{
	{catalog.Options{Sampler: "parallel-fhs"}, []int{64, 32, 16, 8, 4}},
	{catalog.Options{Sampler: "random-sizes"}, []int{16}},
	{catalog.Options{Sampler: "random-sizes", PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, []int{16}},
	{catalog.Options{Sampler: "spread"}, []int{64, 32, 16, 8, 4}},
}

// auditedSequences and measuredSequences are the numbers of sequences from which the errors and the
// interactions are estimated.
const auditedSequences, measuredSequences = 6, 8

// interactions plots the interactions of positions, and the loss of groups of positions.
func interactions(ctx context.Context, net network) ([]report.Plot, []byte) {
	const d = 128
	in := fatal.Must(interaction.Measure(ctx, net.Model, net.blank(d), interaction.Config{Sequences: measuredSequences, Seed: seed}))
	told := in.Plot("Built-in network: what a reveal tells about another position")
	free := make([]int, d)
	for l := range free {
		free[l] = l
	}
	lost := report.Plot{Name: "groups", Title: "Built-in network, 128 positions: what groups lose against one position a call", X: "network calls", Y: "KL, nats a token", LogX: true, LogY: true, Bars: report.Intervals(0, "sequences")}
	t := report.Table{Head: []string{"sampler", "calls", "predicted", "measured KL", "greatest", "TV"}}
	for _, a := range audited {
		for _, steps := range a.steps {
			o := a.Options
			if o.Steps = steps; o.Sampler == "spread" {
				o.Interactions = &in.Interactions
			}
			s := fatal.Must(catalog.New(o, net.Spec()))
			got := fatal.Must(interaction.Audit(ctx, net.Model, net.blank(d), s, interaction.Config{Sequences: auditedSequences, Seed: seed + 1}))
			predicted := fatal.Must(interaction.Predict(&in.Interactions, s, free))
			if len(a.steps) > 1 { // One point is no curve.
				lost.Add(o.Sampler, "", report.At(got.Calls, got.KL))
			}
			name := strings.TrimSpace(o.Sampler + " " + o.Correlation)
			t.Rows = append(t.Rows, []string{name, number(got.Calls), fmt.Sprintf("%.2g", predicted), short(got.KL), fmt.Sprintf("%.2g", float64(got.Worst)), short(got.TV)})
		}
	}
	return []report.Plot{told, lost}, markdown(t)
}

// short formats an estimate with two digits, the precision of few sequences.
func short(e estimate.Estimate) string { return fmt.Sprintf("%.2g ± %.1g", e.Mean, e.SE) }
