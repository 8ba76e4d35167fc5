package bound

import (
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

const (
	// oneLine is the probability that a verdict from samples is right. A report has two such
	// verdicts, and both are right with probability 0.999.
	oneLine = 0.9995
	// exactLimit is how far rounding may take an exact difference below 0, in nats.
	exactLimit = 1e-10
	// rowRounding is the relative change of a window's probability that float32 rows computed in
	// other batches may cause.
	rowRounding = 1e-4
)

// Tolerances of exact lines, times max(1, |value|). Identities between sums and quadratures agree
// to about 1e-12; Theorem 5's equality is checked to 1e-9.
const (
	exactTolerance    = 1e-10
	theorem5Tolerance = 1e-9
	// rounding is the limit below which values, which differ between machines, are shown as 0.
	rounding = 1e-13
)

// among returns the name of n differences and a phrase for all of them.
func among(n int) (name, all string) {
	if n == 1 {
		return "D", ""
	}
	return "D_i", fmt.Sprintf(" on all %d", n)
}

// exactly judges a statement D_i ≥ 0 about exact differences.
func exactly(d []float64, limit float64) report.Judgement {
	least, below := math.Inf(1), 0
	for _, v := range d {
		if !(v >= -limit) { // NaN counts too
			below++
		}
		least = math.Min(least, v)
	}
	name, all := among(len(d))
	if below > 0 {
		return report.Judge(report.Violated, ": %s < −%.0e on %d of %d, the least is %.3g, please report", name, limit, below, len(d), least)
	}
	return report.Judge(report.HoldsExactly, ": %s ≥ −%.0e%s", name, limit, all)
}

// equally judges a statement D_i = 0 about exact differences.
func equally(d []float64, limit float64) report.Judgement {
	greatest, above := 0.0, 0
	for _, v := range d {
		if !(math.Abs(v) <= limit) {
			above++
		}
		greatest = math.Max(greatest, math.Abs(v))
	}
	switch name, all := among(len(d)); {
	case above > 0:
		return report.Judge(report.Violated, ": |%s| > %.0e on %d of %d, the greatest is %.3g, please report", name, limit, above, len(d), greatest)
	case all == "":
		return report.Judge(report.Equal, " %.0e", limit)
	default:
		return report.Judge(report.Equal, " %.0e%s, the greatest |D_i| is %.2g", limit, all, greatest)
	}
}

// oneSided judges D ≥ 0 for the mean of terms that are not negative.
func (m means) oneSided(terms []float64) report.Judgement {
	e := mean(terms, m.cluster, 2*oneLine-1)
	if v, undecided := withoutError(e); undecided {
		return v
	}
	z := width(e)
	switch {
	case e.Lo >= -exactLimit:
		return report.Judge(report.HoldsOneSided, " 99.9 %%")
	case e.Hi < -exactLimit:
		return report.Judge(report.Violated, ": mean + %.2f se < 0, please report", z)
	}
	need := math.Pow(z*e.SE/math.Abs(e.Mean), 2) * float64(e.Units)
	return report.Judge(report.NotResolved, ": needs n ≈ (%.2f·sd/|mean|)² = %.2g", z, need)
}

// same judges D = 0 for the mean of terms that are estimates.
func (m means) same(terms []float64) report.Judgement {
	e := mean(terms, m.cluster, oneLine)
	if v, undecided := withoutError(e); undecided {
		return v
	}
	if e.Lo > exactLimit || e.Hi < -exactLimit {
		return report.Judge(report.Violated, ": |mean| > %.2f se, please report", width(e))
	}
	return report.Judge(report.Equal, " %.2g, the error of both estimates at 99.9 %%", max(e.Hi, -e.Lo))
}

// withoutError returns the verdict on an estimate without a standard error or an interval.
func withoutError(e estimate.Estimate) (_ report.Judgement, undecided bool) {
	switch {
	case !math.IsInf(e.SE, 0) && !math.IsNaN(e.SE) && !math.IsInf(e.Hi-e.Lo, 1):
		return report.Judgement{}, false
	case e.Units < 2:
		return report.Judge(report.NotResolved, ": %d independent unit has no standard error: at least 2 are needed", e.Units), true
	case len(e.Warnings) > 0:
		return report.Judge(report.NotResolved, ": %s", e.Warnings[0]), true
	}
	return report.Judge(report.NotResolved, ": the samples have no standard error"), true
}

// width returns half the interval in standard errors: 3.29 at confidence 0.999 with many units.
func width(e estimate.Estimate) float64 {
	if e.SE == 0 {
		return 0
	}
	return (e.Hi - e.Lo) / 2 / e.SE
}
