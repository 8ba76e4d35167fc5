package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
)

// Plots are the pictures of a report, those that it has numbers for: calls against steps with
// what is expected, error against steps with the collision bound, and error against calls and against seconds with the Pareto front, the
// settings of which none is at once cheaper and better.
func Plots(r *Report) []report.Plot {
	out := []report.Plot{callsPlot(r)}
	const tv, kl = "TV(P_FHS, P_N)", "KL(P_FHS‖P_N), nats"
	for _, m := range [][3]string{{"error-steps", "tv", tv}, {"kl-steps", "kl", kl}} {
		out = append(out, ratePlot(r, m[0], m[1], m[2]))
	}
	out = appendFront(out, r, front{name: "error-calls", title: "Sampling error against network calls", x: "calls a sequence of the window", y: tv, metric: "tv", log: true, at: func(c *CellReport) (estimate.Estimate, bool) { return c.metric("error_calls") }})
	out = appendFront(out, r, front{name: "kl-calls", title: "Sampling error against network calls", x: "calls a sequence of the window", y: kl, metric: "kl", log: true, at: func(c *CellReport) (estimate.Estimate, bool) { return c.metric("error_calls") }})
	seconds := func(c *CellReport) (estimate.Estimate, bool) {
		if c.Summary == nil {
			return estimate.Estimate{}, false
		}
		return c.Summary.Total, true
	}
	// Seconds are of the cell's own canvas, errors of a window: only where both are as long do
	// they belong together.
	if q := r.Settings.Quality; q != nil && !slices.ContainsFunc(r.Cells, func(c CellReport) bool { return c.Free != q.ErrorLength }) {
		out = appendFront(out, r, front{name: "error-seconds", title: "Sampling error against time", x: "seconds a sequence", y: tv, metric: "tv", log: true, at: seconds})
	}
	for _, m := range []struct{ metric, title, y string }{
		{"self_nelbo", "NELBO of the samples under the model", "nats per token"},
		{"generative_perplexity", "Generative perplexity", "perplexity"},
	} {
		name := strings.ReplaceAll(m.metric, "_", "-")
		out = appendFront(out, r, front{name: name + "-calls", title: m.title, x: "calls a sequence", y: m.y, metric: m.metric, at: func(c *CellReport) (estimate.Estimate, bool) {
			return exact(c.Expected.All()), !math.IsNaN(c.Expected.All())
		}})
		out = appendFront(out, r, front{name: name + "-seconds", title: m.title, x: "seconds a sequence", y: m.y, metric: m.metric, at: seconds})
	}
	return report.Shown(out...)
}

// namer names series: a cell's ID without its steps and without what all cells share.
func namer(r *Report) func(c *CellReport) string {
	shared := strings.Fields(r.Cells[0].ID)[1:]
	for i := range r.Cells {
		has := strings.Fields(r.Cells[i].ID)
		shared = slices.DeleteFunc(shared, func(f string) bool { return !slices.Contains(has, f) })
	}
	return func(c *CellReport) string {
		parts := slices.DeleteFunc(strings.Fields(c.ID), func(f string) bool {
			return strings.HasPrefix(f, "steps=") || slices.Contains(shared, f)
		})
		return strings.Join(parts, " ")
	}
}

// stepsOf is N, 0 for a sampler that has none.
func stepsOf(c *CellReport) float64 {
	var n float64
	fmt.Sscan(c.Settings.Get("steps"), &n)
	return n
}

// callsPlot shows measured and expected calls.
func callsPlot(r *Report) report.Plot {
	p := report.Plot{Name: "calls-steps", Title: "Network calls a sequence", X: "N", Y: "calls, finishing included", LogX: true, LogY: true,
		Caption: "Points are measured, lines are the exact expectation of the sampler's law."}
	expected := p
	name := namer(r)
	for i := range r.Cells {
		c := &r.Cells[i]
		n := stepsOf(c)
		if n == 0 || c.Summary == nil {
			continue
		}
		calls, finish := c.Summary.Calls, c.Summary.FinishCalls
		half := math.Hypot(calls.Hi-calls.Mean, finish.Hi-finish.Mean)
		y := calls.Mean + finish.Mean
		p.Add(name(c), report.StylePoints, report.Point{X: n, Y: y, Lo: y - half, Hi: y + half})
		expected.Add(name(c)+", expected", report.StyleLine, report.Point{X: n, Y: c.Expected.All()})
	}
	p.Series = sorted(append(p.Series, expected.Series...))
	return p
}

// sorted orders the points of series by x.
func sorted(all []report.Series) []report.Series {
	for _, s := range all {
		slices.SortStableFunc(s.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
	}
	return all
}

// front is a picture of a metric, lower being better, against a cost.
type front struct {
	name, title, x, y, metric string
	log                       bool
	at                        func(c *CellReport) (estimate.Estimate, bool)
}

// appendFront adds a picture where some cell has its numbers.
func appendFront(out []report.Plot, r *Report, f front) []report.Plot {
	p := report.Plot{Name: f.name, Title: f.title, X: f.x, Y: f.y, LogX: true, LogY: f.log}
	var all []report.Point
	zero := report.Plot{LogX: true}
	name := namer(r)
	for i := range r.Cells {
		c := &r.Cells[i]
		x, ok := f.at(c)
		y, has := c.metric(f.metric)
		if !ok || !has || math.IsInf(y.Mean, 0) {
			continue
		}
		at := report.At(x.Mean, y)
		all = append(all, at)
		if f.log && y.Mean <= rounding {
			// A logarithmic axis has no place for it: a line says at what cost it is reached.
			if !slices.ContainsFunc(zero.Series, func(s report.Series) bool { return s.Points[0].X == x.Mean }) {
				zero.Add(name(c)+": 0", report.StyleLine, report.Point{X: x.Mean})
			}
			continue
		}
		p.Add(name(c), "", at)
	}
	if len(p.Series) == 0 {
		return out
	}
	for _, at := range Pareto(all) {
		if !f.log || at.Y > rounding {
			p.Add("Pareto front", report.StyleMarks, report.Point{X: at.X, Y: at.Y})
		}
	}
	p.Caption = "Rings mark the Pareto front, from estimates alone: no other setting has both a lower cost and a lower value."
	low, high := extent(p.Series)
	for _, s := range zero.Series {
		for _, y := range []float64{low, high} {
			p.Add(s.Name, s.Style, report.Point{X: s.Points[0].X, Y: y})
		}
	}
	if len(zero.Series) > 0 {
		p.Caption += " Upright lines are where the value is 0, which the axis cannot show."
	}
	return append(out, p)
}

// extent is the range of y.
func extent(all []report.Series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, at := range s.Points {
			low, high = min(low, at.Y), max(high, at.Y)
		}
	}
	if low == high {
		low, high = low/2, high*2
	}
	return low, high
}

// ratePlot shows a distance against steps, with the collision bound and what exponents
// were fitted.
func ratePlot(r *Report, plotName, metric, y string) report.Plot {
	p := report.Plot{Name: plotName, Title: "Sampling error against steps", X: "N", Y: y, LogX: true, LogY: true}
	bounds := p
	name := namer(r)
	for i := range r.Cells {
		c := &r.Cells[i]
		e, ok := c.metric(metric)
		n := stepsOf(c)
		if !ok || n == 0 || !(e.Mean > rounding) {
			continue
		}
		p.Add(name(c), "", report.At(n, e))
		if b, ok := c.metric(metric + "_collision_bound"); ok {
			bounds.Add(name(c)+", collision bound", report.StyleLine, report.Point{X: n, Y: b.Mean})
		}
	}
	p.Series = sorted(append(p.Series, bounds.Series...))
	p.Caption = "First-hitting is 0 everywhere."
	if metric != string(quality.TV) {
		return p // No exponent of KL is fitted.
	}
	var fits []string
	for _, f := range r.Rates {
		if f.Kind == "fit" {
			fits = append(fits, fmt.Sprintf("%s %d..%d: N^%.2f (%.2f..%.2f)", f.Series, f.Steps[0], f.Steps[len(f.Steps)-1], f.Exponent.Mean, f.Exponent.Lo, f.Exponent.Hi))
		}
	}
	p.Caption += " Fitted exponents: " + cmp.Or(strings.Join(fits, "; "), "none, for lack of three numbers of steps of at least the window's length") + "."
	return p
}

// Pareto returns the points that no other point beats, lower X and Y being better: by
// rising X, of equal points the first.
func Pareto(points []report.Point) []report.Point {
	all := slices.Clone(points)
	slices.SortStableFunc(all, func(a, b report.Point) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	var out []report.Point
	for _, at := range all {
		if len(out) == 0 || at.Y < out[len(out)-1].Y {
			out = append(out, at)
		}
	}
	return out
}
