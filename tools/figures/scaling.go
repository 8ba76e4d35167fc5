package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/tools/internal/fatal"
)

// scales lists lengths with their numbers of steps and of runs. The second number of steps of the
// first length has exact values, from 256 rows per text.
var scales = []struct {
	d     int
	steps []int
	runs  int
}{
	{8, []int{128, 32}, 400}, {16, []int{256}, 128}, {32, []int{512}, 64}, {64, []int{1024}, 32}, {128, []int{2048, 512, 8192}, 16},
}

// exactTexts is the number of texts with exact likelihoods.
const exactTexts = 150

// scaling tabulates certificates at N = 16·d, and other bounds of the same distance.
func scaling(ctx context.Context, net network) ([]report.Plot, []byte) {
	p := report.Plot{Name: "scaling", Title: "Built-in network, Tweedie on equal steps of λ, N = 16·d", X: "d, positions", Y: "bounds on TV(P_FHS, P_N)", LogX: true, LogY: true, Bars: report.Intervals(0, "runs")}
	t := report.Table{Head: []string{"d", "N", "runs", "exact", "given π", "given U", "collision bound", "canvases a run", "positions a run"}}
	for _, at := range scales {
		ss := settings(net, "tweedie grid=lambda", at.steps...)
		cfg := certificate.Config{Runs: at.runs, Seed: seed, Batch: 8}
		byOrder := fatal.Must(certificate.Measure(ctx, net.Model, net.blank(at.d), ss, cfg))
		cfg.Longest = 1
		byPlan := fatal.Must(certificate.Measure(ctx, net.Model, net.blank(at.d), ss, cfg))
		exact := slices.Repeat([]string{"–"}, len(ss))
		if at.d == scales[0].d {
			st := fatal.Must(quality.Measure(ctx, net.e, likelihood.Whole(net.blank(at.d)), ss, quality.Config{Samples: exactTexts, Seed: seed}))
			for i := range exact {
				exact[i] = measured(st.Distance(quality.TV, i))
			}
		}
		var rows float64
		for _, r := range byOrder.Runs {
			rows += float64(r.Rows) / float64(len(byOrder.Runs))
		}
		for i, s := range ss {
			apart := fatal.Must(s.Collision(at.d))
			order, plan, collision := byOrder.Bound(i).TV, byPlan.Bound(i).TV, -math.Expm1(apart)
			if i == 0 {
				x := float64(at.d)
				p.Add("collision bound", "", report.Point{X: x, Y: collision})
				p.Add("certificate given U", "", report.At(x, plan))
				p.Add("certificate given π", "", report.At(x, order))
			}
			t.Rows = append(t.Rows, []string{fmt.Sprint(at.d), fmt.Sprint(at.steps[i]), fmt.Sprint(at.runs), exact[i], measured(order), measured(plan), number(collision),
				fmt.Sprint(byOrder.Runs[0].Asked), fmt.Sprintf("%.0f", rows)})
		}
	}
	return []report.Plot{p}, markdown(t)
}

// measured formats an estimate with its standard error.
func measured(e estimate.Estimate) string { return fmt.Sprintf("%.4f ± %.2g", e.Mean, e.SE) }
