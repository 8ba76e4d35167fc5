package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/estimate"
)

// Plots are the pictures of a report, those that it has numbers for: calls against steps with
// what is expected, and error against calls and against seconds with the Pareto front, the
// settings of which none is at once cheaper and better.
func Plots(r *Report) []bound.Plot {
	var out []bound.Plot
	if p, ok := callsPlot(r); ok {
		out = append(out, p)
	}
	const tv = "TV(P_FHS, P_N)"
	out = appendFront(out, r, front{name: "error-calls", title: "Sampling error against network calls", x: "calls a sequence of the window", y: tv, metric: "tv", log: true, at: func(c *CellReport) (estimate.Estimate, bool) { return c.metric("error_calls") }})
	out = appendFront(out, r, front{name: "kl-calls", title: "Sampling error against network calls", x: "calls a sequence of the window", y: "KL(P_FHS‖P_N), nats", metric: "kl", log: true, at: func(c *CellReport) (estimate.Estimate, bool) { return c.metric("error_calls") }})
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
		{"self_nelbo", "NELBO of the samples under the model", "nats a token"},
		{"generative_perplexity", "Generative perplexity", "perplexity"},
	} {
		name := strings.ReplaceAll(m.metric, "_", "-")
		out = appendFront(out, r, front{name: name + "-calls", title: m.title, x: "calls a sequence", y: m.y, metric: m.metric, at: func(c *CellReport) (estimate.Estimate, bool) {
			return exact(c.Expected.Calls + c.Expected.Finish), true
		}})
		out = appendFront(out, r, front{name: name + "-seconds", title: m.title, x: "seconds a sequence", y: m.y, metric: m.metric, at: seconds})
	}
	return out
}

// seriesName is a cell's ID without its steps.
func seriesName(c *CellReport) string {
	parts := slices.DeleteFunc(strings.Fields(c.ID), func(f string) bool { return strings.HasPrefix(f, "steps=") })
	return strings.Join(parts, " ")
}

// stepsOf is N, 0 for a sampler that has none.
func stepsOf(c *CellReport) float64 {
	var n float64
	fmt.Sscan(c.Settings.Get("steps"), &n)
	return n
}

// callsPlot shows measured and expected calls.
func callsPlot(r *Report) (bound.Plot, bool) {
	p := bound.Plot{Name: "calls-steps", Title: "Network calls a sequence", X: "N", Y: "calls, finishing included", LogX: true, LogY: true,
		Caption: "Points are measured, lines are the exact expectation of the sampler's law."}
	var expected []bound.Series
	for i := range r.Cells {
		c := &r.Cells[i]
		n := stepsOf(c)
		if n == 0 || c.Summary == nil {
			continue
		}
		calls, finish := c.Summary.Calls, c.Summary.FinishCalls
		half := math.Hypot(calls.Hi-calls.Mean, finish.Hi-finish.Mean)
		at := bound.Point{X: n, Y: calls.Mean + finish.Mean}
		if half > 0 && !math.IsInf(half, 0) {
			at.Lo, at.Hi = at.Y-half, at.Y+half
		}
		addPoint(&p.Series, seriesName(c), bound.StylePoints, at)
		addPoint(&expected, seriesName(c)+", expected", bound.StyleLine, bound.Point{X: n, Y: c.Expected.Calls + c.Expected.Finish})
	}
	if len(p.Series) == 0 {
		return p, false
	}
	p.Series = sorted(append(p.Series, expected...))
	return p, true
}

func addPoint(to *[]bound.Series, name, style string, at bound.Point) {
	for i := range *to {
		if (*to)[i].Name == name {
			(*to)[i].Points = append((*to)[i].Points, at)
			return
		}
	}
	*to = append(*to, bound.Series{Name: name, Style: style, Points: []bound.Point{at}})
}

// sorted orders the points of series by x.
func sorted(all []bound.Series) []bound.Series {
	for _, s := range all {
		slices.SortStableFunc(s.Points, func(a, b bound.Point) int { return cmp.Compare(a.X, b.X) })
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
func appendFront(out []bound.Plot, r *Report, f front) []bound.Plot {
	p := bound.Plot{Name: f.name, Title: f.title, X: f.x, Y: f.y, LogX: true, LogY: f.log}
	var all []bound.Point
	var none []string
	for i := range r.Cells {
		c := &r.Cells[i]
		x, ok := f.at(c)
		y, has := c.metric(f.metric)
		if !ok || !has || math.IsInf(y.Mean, 0) {
			continue
		}
		at := bound.Point{X: x.Mean, Y: y.Mean}
		if y.Lo < y.Hi && !math.IsInf(y.Lo, 0) && !math.IsInf(y.Hi, 0) {
			at.Lo, at.Hi = y.Lo, y.Hi
		}
		all = append(all, at)
		if f.log && y.Mean <= 0 {
			none = append(none, fmt.Sprintf("%s: %.4g at %.4g", c.ID, y.Mean, x.Mean))
			continue
		}
		addPoint(&p.Series, seriesName(c), "", at)
	}
	if len(p.Series) == 0 {
		return out
	}
	p.Series = sorted(p.Series)
	best := bound.Series{Name: "Pareto front", Style: bound.StyleMarks}
	for _, at := range Pareto(all) {
		if !f.log || at.Y > 0 {
			best.Points = append(best.Points, bound.Point{X: at.X, Y: at.Y})
		}
	}
	p.Series = append(p.Series, best)
	p.Caption = "Rings mark the Pareto front, from estimates alone: no other setting has both a lower cost and a lower value."
	if len(none) > 0 {
		p.Caption += " Not shown on a logarithmic axis: " + strings.Join(none, "; ") + "."
	}
	return append(out, p)
}

// Pareto returns the points that no other point beats, lower X and Y being better: by
// rising X, of equal points the first.
func Pareto(points []bound.Point) []bound.Point {
	all := slices.Clone(points)
	slices.SortStableFunc(all, func(a, b bound.Point) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	var out []bound.Point
	for _, at := range all {
		if len(out) == 0 || at.Y < out[len(out)-1].Y {
			out = append(out, at)
		}
	}
	return out
}
