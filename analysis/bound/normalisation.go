package bound

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
)

// checkRows is the greatest number of network rows for a sum over all texts.
const checkRows = 1 << 15

// drawsAgree adds the statement that the likelihoods give the log-probabilities that samples were
// drawn with.
func drawsAgree(out *draft, logs, off []float64) {
	line := out.over(nil).line("draws", "−log of the probabilities that samples were drawn with equals −log of their likelihoods", negative(logs), differences(off, logs), off)
	line.Judgement = equally(off, drawLimit)
}

// normalised adds the statement that the mean of ratios is 1. The spread of the ratios shows
// nothing about texts that were not drawn, which may carry most of the mean. So the line gives a
// lower limit of the sum, which holds whatever the distribution of the ratios.
func normalised(out *draft, ratios []float64, q string) {
	m := out.over(nil)
	line := m.line("normalisation", "E_{x∼Q}[P_FHS(x)/Q(x)] = 1, Q "+q, ratios, ratios, each(ratios, func(r float64) float64 { return 1 - r }))
	line.Right, line.Unit = report.Exact(1), "probability"
	least := estimate.LowerLimit(ratios, oneLine)
	left, gap := &line.Left.Estimate, &line.Gap.Estimate
	left.SE, left.Lo, left.Hi, left.Confidence = math.Inf(1), least, math.Inf(1), oneLine
	gap.SE, gap.Lo, gap.Hi, gap.Confidence = math.Inf(1), math.Inf(-1), 1-least, oneLine
	line.Judgement = report.Judge(report.NotResolved, ": the sum is at least %.3g, one-sided 99.9 %%; the weights say nothing about texts not drawn", least)
	if least > 1+rowRounding {
		line.Judgement = report.Judge(report.Violated, ": the sum is at least %.4g, one-sided 99.9 %%, please report", least)
	}
}

// summed adds the statement that the probabilities of all texts sum to 1, or returns false if there
// are too many texts.
func summed(ctx context.Context, out *draft, e *likelihood.Evaluator, t likelihood.Target) (bool, error) {
	d, tokens := len(t.Free), e.Facts().Columns
	if math.Pow(2*float64(tokens), float64(d)) > checkRows {
		return false, nil
	}
	var all []likelihood.Target
	for i := range int(math.Round(math.Pow(float64(tokens), float64(d)))) {
		x := likelihood.Target{IDs: slices.Clone(t.IDs), Free: t.Free}
		for _, l := range t.Free {
			x.IDs[l], i = i%tokens, i/tokens
		}
		if e.Check(x) == nil { // The network gives other tokens no probability.
			all = append(all, x)
		}
	}
	ws, err := (&worker{e: e}).windows(ctx, all)
	if err != nil {
		return false, err
	}
	var sum estimate.Sum
	for _, w := range ws {
		sum.Add(math.Exp(-w.fhs()))
	}
	out.equal("normalisation", fmt.Sprintf("Σ_x P_FHS(x) = 1, over all %d texts", len(all)), "probability", sum.Value(), 1, rowRounding)
	return true, nil
}
