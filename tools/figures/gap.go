package main

import (
	"context"
	"fmt"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/tools/internal/fatal"
)

// gapWindows lists numbers n of windows by length d. A window of d tokens takes 2^d rows.
var gapWindows = []struct{ d, n int }{{2, 160}, {4, 160}, {6, 160}, {8, 120}, {10, 48}, {12, 16}}

// gap plots how far the NELBO is above −log P of First-Hitting on windows of a text, by the length
// of the windows: the gap of Theorem 4.
func gap(ctx context.Context, net network) ([]report.Plot, []byte) {
	ids := tale()
	fhs := fatal.Must(catalog.New(catalog.Options{}, net.Spec()))
	p := report.Plot{Name: "gap", Title: "Windows of a tale, built-in network: what the NELBO adds", X: "d, tokens of a window", Y: "nats", Bars: report.Intervals(0, "windows")}
	t := report.Table{Head: []string{"d", "windows", "−log P_FHS", "NELBO", "gap", "gap a token"}}
	for _, at := range gapWindows {
		var ts []likelihood.Target
		for i := range at.n { // spread over the text
			from := i * (len(ids) - at.d) / at.n
			ts = append(ts, likelihood.Whole(ids[from:from+at.d]))
		}
		values := fatal.Must(net.e.Values(ctx, ts, fhs))
		var exact, bound, gaps, each []float64
		for _, v := range values {
			fhs, nelbo := float64(*v.FHS), float64(*v.NELBO)
			exact, bound = append(exact, fhs), append(bound, nelbo)
			gaps, each = append(gaps, nelbo-fhs), append(each, (nelbo-fhs)/float64(at.d))
		}
		mean := func(x []float64) estimate.Estimate { return estimate.Mean(x, 0) }
		p.Add("NELBO − (−log P_FHS), mean over windows", "", report.At(float64(at.d), mean(gaps)))
		p.Add("the same a token", "", report.At(float64(at.d), mean(each)))
		t.Rows = append(t.Rows, []string{fmt.Sprint(at.d), fmt.Sprint(at.n), measured(mean(exact)), measured(mean(bound)), measured(mean(gaps)), measured(mean(each))})
	}
	return []report.Plot{p}, markdown(t)
}
