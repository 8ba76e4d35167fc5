package bound

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

const (
	// sure is the probability with which a verdict from estimates is right, for all lines
	// of a report together (Bonferroni).
	sure = 0.999
	// exactLimit is how far below 0 rounding may take a difference that is exact, in nats.
	exactLimit = 1e-10
	// rowRounding is how far, relatively, float32 rows of other batches may move a
	// probability of a whole window.
	rowRounding = 1e-4
)

// exactly judges a statement that holds for each of n exact differences D_i ≥ 0.
func exactly(d []float64, limit float64) (verdict string, ok bool) {
	least, below := math.Inf(1), 0
	for _, v := range d {
		if !(v >= -limit) { // also where it is not a number
			below++
		}
		least = math.Min(least, v)
	}
	if below > 0 {
		return fmt.Sprintf("violated: D_i < −%.0e on %d of %d, the least is %.3g, please report", limit, below, len(d), least), false
	}
	return fmt.Sprintf("holds (exact): D_i ≥ −%.0e on all %d", limit, len(d)), true
}

// equally judges a statement that n exact differences are 0.
func equally(d []float64, limit float64) (verdict string, ok bool) {
	greatest, above := 0.0, 0
	for _, v := range d {
		if !(math.Abs(v) <= limit) {
			above++
		}
		greatest = math.Max(greatest, math.Abs(v))
	}
	if above > 0 {
		return fmt.Sprintf("violated: |D_i| > %.0e on %d of %d, the greatest is %.3g, please report", limit, above, len(d), greatest), false
	}
	return fmt.Sprintf("equal within %.0e on all %d, the greatest |D_i| is %.2g", limit, len(d), greatest), true
}

// A sampled is an estimate at any confidence.
type sampled func(confidence float64) estimate.Estimate

// oneSided judges a statement D ≥ 0 about a mean that was estimated, as one of a number
// of lines that are judged so.
func oneSided(d sampled, lines int) (verdict string, ok bool) {
	e := d(1 - 2*(1-sure)/float64(max(lines, 1)))
	if v, undecided := withoutError(e); undecided {
		return v, true
	}
	z := width(e)
	switch {
	case e.Lo >= -exactLimit:
		return fmt.Sprintf("holds, one-sided 99.9 %%%s", among(lines)), true
	case e.Hi < -exactLimit:
		return fmt.Sprintf("violated: mean + %.2f se < 0, please report", z), false
	}
	need := math.Pow(z*e.SE/math.Abs(e.Mean), 2) * float64(e.Units)
	return fmt.Sprintf("not resolved: needs n ≈ (%.2f·sd/|mean|)² = %.2g", z, need), true
}

// twoSidedWithin judges a statement that a mean that was estimated is 0, but for the rounding
// of rows and for slack, up to which its terms are known.
func twoSidedWithin(slack float64) func(sampled, int) (string, bool) {
	return func(d sampled, lines int) (string, bool) {
		e := d(1 - (1-sure)/float64(max(lines, 1)))
		if v, undecided := withoutError(e); undecided {
			return v, true
		}
		limit := rowRounding + slack
		if e.Lo > limit || e.Hi < -limit {
			return fmt.Sprintf("violated: |mean| > %.2f se, please report", width(e)), false
		}
		return fmt.Sprintf("equal within %.2g, two-sided 99.9 %%%s", math.Max(math.Abs(e.Lo), math.Abs(e.Hi))+slack, among(lines)), true
	}
}

// withoutError is the verdict where samples tell no error.
func withoutError(e estimate.Estimate) (string, bool) {
	if !math.IsInf(e.SE, 0) && !math.IsNaN(e.SE) {
		return "", false
	}
	why := "the samples tell no error"
	if len(e.Warnings) > 0 {
		why = e.Warnings[0]
	}
	return "not resolved: " + why, true
}

// width is half the interval in standard errors: 3.09 for one line and many units.
func width(e estimate.Estimate) float64 {
	if e.SE == 0 {
		return 0
	}
	return (e.Hi - e.Lo) / 2 / e.SE
}

func among(lines int) string {
	if lines <= 1 {
		return ""
	}
	return fmt.Sprintf(" over %d lines", lines)
}

// confirmed makes a report with draws from a seed, and where a verdict from estimates says
// "violated" makes it anew with fresh ones before the word: [sure] leans on means of as many
// samples being normal, which those of skewed weights are not. Such a line is violated where
// it is so both times.
func confirmed(cfg Config, run func(Config) (Report, error)) (Report, error) {
	r, err := run(cfg)
	if err != nil || !slices.ContainsFunc(r.estimated, func(i int) bool { return !r.Lines[i].OK }) {
		return r, err
	}
	cfg.Seed, cfg.Done = cfg.Seed^seedAgain, nil
	again, err := run(cfg)
	if err != nil && len(again.Lines) < len(r.Lines) {
		again.Lines = r.Lines // cut off before the fresh draws told anything
	}
	r.Holds = true
	for i := range r.Lines {
		l := &r.Lines[i]
		if !l.OK && slices.Contains(r.estimated, i) {
			if l.OK = again.Lines[i].OK; l.OK {
				l.Verdict = "not resolved: off on these draws, not on fresh ones, which say: " + again.Lines[i].Verdict
			} else if err == nil {
				l.Verdict += ", on fresh draws too"
			}
		}
		r.Holds = r.Holds && l.OK
	}
	return r, err
}

// draft is a report in the making: verdicts from estimates wait until it is known how
// many there are.
type draft struct {
	Report
	waiting []func(lines int)
}

func newDraft(mode string) *draft {
	return &draft{Report: Report{Schema: Schema, Mode: mode, Holds: true}}
}

// add appends a line without a verdict.
func (d *draft) add(l report.Line) *report.Line {
	if l.Unit == "" {
		l.Unit = "nats"
	}
	l.OK = true
	d.Lines = append(d.Lines, l)
	return &d.Lines[len(d.Lines)-1]
}

// judged appends a line whose verdict is known.
func (d *draft) judged(l report.Line, verdict string, ok bool) {
	at := d.add(l)
	at.Verdict, at.OK = verdict, ok
}

// estimated appends a line whose verdict depends on the number of such lines.
func (d *draft) estimated(l report.Line, judge func(sampled, int) (string, bool), gap sampled) {
	d.add(l)
	at := len(d.Lines) - 1
	d.Report.estimated = append(d.Report.estimated, at)
	d.waiting = append(d.waiting, func(lines int) {
		d.Lines[at].Verdict, d.Lines[at].OK = judge(gap, lines)
	})
}

// finish judges what waits.
func (d *draft) finish() Report {
	for _, judge := range d.waiting {
		judge(len(d.waiting))
	}
	for _, l := range d.Lines {
		d.Holds = d.Holds && l.OK
	}
	return d.Report
}
