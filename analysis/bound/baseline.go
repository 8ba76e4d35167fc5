package bound

import (
	"fmt"
	"math"

	"mdmgen/analysis/baseline"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// Baseline is a distribution of texts that bounds both sides of Theorem 4 from below on a text.
type Baseline struct {
	// Name names it in the report; it is not "".
	Name         string
	Distribution baseline.Distribution
}

// share is the weight of the baseline in its mixture with P_FHS. One half costs at most log 2
// against the better of the two on each text, and is fixed before any text is seen.
const share = 0.5

// baselineLines adds the lower bounds by the baseline of that name for windows with
// log-probabilities logp, costs −log P_FHS, nil if unknown, and NELBOs.
func baselineLines(out means, name string, logp, fhs, nelbo []float64) {
	bound := func(kind, statement string, logp, costs []float64) {
		line := out.line(kind, statement, negative(logp), costs, differences(costs, negative(logp)))
		if line.Judgement = says(line.Gap.Estimate, out.cluster != nil); line.Kind == report.NotJudged {
			line.Gap.Bound = "lower"
		}
	}
	bounds := func(suffix, p string, logp []float64) {
		if fhs != nil {
			bound("reference_kl"+suffix, "KL(q0‖P_FHS) ≥ E[log p − log P_FHS], p "+p, logp, fhs)
		}
		bound("reference_epsilon"+suffix, "ε″ ≥ E[NELBO + log p], p "+p, logp, nelbo)
	}
	bounds("", name, logp)
	if fhs != nil {
		bounds(".mixture", fmt.Sprintf("%g·(%s) + %g·P_FHS", share, name, 1-share), baseline.Mix(share, logp, negative(fhs)))
	}
	note := "The bounds from below by the reference concern the distribution that the text is a sample of; their intervals treat its documents, not its windows, as independent."
	if out.cluster == nil {
		note = "The bounds from below by the reference concern the distribution that the text is a sample of. Windows of one running text are treated as independent, although neighbours are not: give one document per line."
	}
	out.note(note)
}

// says judges a lower bound on a quantity that is never negative. If the interval of the bound is
// above 0, there is no verdict; otherwise the verdict is that the bound is not resolved, and why.
func says(e estimate.Estimate, clustered bool) report.Judgement {
	unit := "windows"
	if clustered {
		unit = "documents"
	}
	if v, undecided := withoutError(e); undecided {
		return v
	}
	switch half := (e.Hi - e.Lo) / 2; {
	case e.Lo > 0:
		return report.Judgement{OK: true}
	case e.Mean > 0:
		return report.Judge(report.NotResolved, ": too few %s: about %.0f would suffice", unit, math.Ceil(float64(e.Units)*math.Pow(half/e.Mean, 2)))
	}
	return report.Judge(report.NotResolved, ": the mean is not above 0, so it bounds nothing; a distribution closer to the text would give more")
}
