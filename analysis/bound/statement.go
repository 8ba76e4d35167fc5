package bound

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// draft is an unfinished report.
type draft struct {
	Report
	confidence float64
	lines      []*report.Line
}

func newDraft(mode string, confidence float64) *draft {
	return &draft{Report: Report{Schema: Schema, Mode: mode, Holds: true}, confidence: confidence}
}

// add appends a line, without a verdict until the caller sets one.
func (d *draft) add(l report.Line) *report.Line {
	l.Unit = cmp.Or(l.Unit, "nats")
	l.OK = true
	d.lines = append(d.lines, &l)
	return &l
}

func (d *draft) note(notes ...string) { d.Notes = append(d.Notes, notes...) }

func (d *draft) plot(plots ...report.Plot) { d.Plots = append(d.Plots, report.Shown(plots...)...) }

func (d *draft) finish() Report {
	few := ""
	for _, l := range d.lines {
		few = cmp.Or(few, l.Left.NoInterval())
		d.Lines, d.Holds = append(d.Lines, *l), d.Holds && l.OK
	}
	if few != "" {
		d.Head = strings.TrimSpace(d.Head + " There is " + few + ".")
	}
	return d.Report
}

// means adds lines about means over windows or samples to a draft.
type means struct {
	*draft
	// cluster is the same number for dependent terms; nil if all terms are independent.
	cluster []int
}

func (d *draft) over(cluster []int) means { return means{d, cluster} }

// of estimates a mean.
func (m means) of(x []float64) report.Value {
	return of(estimate.SkewedRatio(x, slices.Repeat([]float64{1}, len(x)), m.cluster, m.confidence))
}

// within estimates the mean of independent terms of least..1.
func (m means) within(x []float64, least float64) report.Value {
	return of(estimate.Bounded(x, least, 1, m.confidence))
}

// line adds a line from the terms of its two sides and of their difference.
func (m means) line(name, statement string, left, right, gap []float64) *report.Line {
	return m.add(report.Line{Name: name, Statement: statement, Left: m.of(left), Right: m.of(right), Gap: m.of(gap)})
}

// mean estimates a mean for a verdict, with the terms of the same cluster as one unit.
func mean(x []float64, cluster []int, confidence float64) estimate.Estimate {
	e := estimate.NormalRatio(x, slices.Repeat([]float64{1}, len(x)), cluster, confidence)
	if e.SE == 0 {
		e.Lo, e.Hi = e.Mean, e.Mean // equal terms
	}
	return e
}

// of returns an estimate as a value.
func of(e estimate.Estimate) report.Value { return report.Value{Estimate: e} }

// unknown returns the value of a side of which only a bound is known.
func unknown() report.Value {
	return of(estimate.Estimate{Mean: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1)})
}

// exact adds a line about exact numbers. Sides and gaps within rounding are 0.
func (d *draft) exact(name, statement, unit string, left, right float64) *report.Line {
	if math.Abs(left) <= rounding {
		left = 0
	}
	if math.Abs(right) <= rounding {
		right = 0
	}
	gap := right - left
	if left == right || math.Abs(gap) <= slack(left, right, rounding) {
		gap = 0 // also if both are infinite
	}
	return d.add(report.Line{Name: name, Statement: statement, Unit: unit, Left: report.Exact(left), Right: report.Exact(right), Gap: report.Exact(gap)})
}

// equal adds an identity between exact numbers.
func (d *draft) equal(name, statement, unit string, left, right, tolerance float64) *report.Line {
	line := d.exact(name, statement, unit, left, right)
	line.Judgement = equally([]float64{line.Gap.Mean}, slack(left, right, tolerance))
	return line
}

// below adds an inequality left ≤ right of exact numbers. If several cases were checked, the sides
// are those of one case, and gaps are right − left of all.
func (d *draft) below(name, statement, unit string, left, right, tolerance float64, gaps ...float64) *report.Line {
	line := d.exact(name, statement, unit, left, right)
	if len(gaps) == 0 {
		gaps = []float64{line.Gap.Mean}
	}
	limit := slack(left, right, tolerance)
	line.Judgement = exactly(gaps, limit)
	switch {
	case !line.OK:
	case slices.Min(gaps) > limit:
		line.Verdict += ", strictly"
	case slices.Max(gaps) <= limit:
		line.Verdict += fmt.Sprintf(", equal within %.0e", limit)
	}
	return line
}

// slack returns the tolerance times max(1, |value|).
func slack(left, right, tolerance float64) float64 {
	size := 1.0
	for _, x := range []float64{left, right} {
		if !math.IsInf(x, 0) {
			size = max(size, math.Abs(x))
		}
	}
	return tolerance * size
}
