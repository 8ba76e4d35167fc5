package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// Plots are the pictures of a report, those that it has numbers for: what a sequence costs, calls
// against steps with what is expected, TV against steps with the collision bound, and errors
// against calls and against seconds with the Pareto front.
func Plots(r *Report) []report.Plot {
	out := append(amounts(r), callsPlot(r), ratePlot(r))
	const tv, kl = "TV(P_FHS, P_N)", "KL(P_FHS‖P_N), nats"
	window := func(c *CellReport) (estimate.Estimate, bool) { return c.metric("error_calls") }
	expected := func(c *CellReport) (estimate.Estimate, bool) {
		return exact(c.Expected.All()), !math.IsNaN(c.Expected.All())
	}
	seconds := func(c *CellReport) (estimate.Estimate, bool) {
		if c.Summary == nil {
			return estimate.Estimate{}, false
		}
		return c.Summary.Total, true
	}
	fronts := []front{
		{name: "error-calls", title: "TV from First-Hitting against network calls", x: "expected calls a sequence of the window", y: tv, metric: "tv", log: true, at: window},
		{name: "kl-calls", title: "KL from First-Hitting against network calls", x: "expected calls a sequence of the window", y: kl, metric: "kl", log: true, at: window},
	}
	// Seconds are of the cell's own canvas, errors of a window: only where both are as long do
	// they belong together.
	if q := r.Settings.Quality; q != nil && !slices.ContainsFunc(r.Cells, func(c CellReport) bool { return c.Free != q.ErrorLength }) {
		fronts = append(fronts, front{name: "error-seconds", title: "TV from First-Hitting against time", x: "seconds a sequence", y: tv, metric: "tv", log: true, style: report.StylePoints, at: seconds})
	}
	for _, m := range []struct{ metric, title, y string }{
		{"self_nelbo", "NELBO of the samples under the model", "nats per token"},
		{"generative_perplexity", "Generative perplexity", "perplexity"},
	} {
		name := strings.ReplaceAll(m.metric, "_", "-")
		fronts = append(fronts, front{name: name + "-calls", title: m.title, x: "expected calls a sequence", y: m.y, metric: m.metric, at: expected},
			front{name: name + "-seconds", title: m.title, x: "seconds a sequence", y: m.y, metric: m.metric, style: report.StylePoints, at: seconds})
	}
	for _, f := range fronts {
		out = append(out, f.plot(r))
	}
	return report.Shown(out...)
}

// namer names cells: by the ID without what all cells share, and without steps where these are
// an axis of the picture.
func namer(r *Report, steps bool) func(c *CellReport) string {
	shared := strings.Fields(r.Cells[0].ID)[1:]
	for i := range r.Cells {
		has := strings.Fields(r.Cells[i].ID)
		shared = slices.DeleteFunc(shared, func(f string) bool { return !slices.Contains(has, f) })
	}
	return func(c *CellReport) string {
		parts := slices.DeleteFunc(strings.Fields(c.ID), func(f string) bool {
			return strings.HasPrefix(f, "steps=") && !steps || !strings.HasPrefix(f, "steps=") && slices.Contains(shared, f)
		})
		return strings.NewReplacer(" steps=", ", N = ", " grid=", " ").Replace(strings.Join(parts, " "))
	}
}

// amounts are seconds a sequence and tokens a second of every cell.
func amounts(r *Report) []report.Plot {
	bars := report.Intervals(r.Settings.Confidence, "repetitions")
	seconds := report.Plot{Name: "seconds", Title: "Seconds a sequence", Y: "seconds a sequence", Amounts: true, Bars: bars, Caption: "Less is better."}
	tokens := report.Plot{Name: "tokens", Title: "Sampled tokens a second of wall-clock time", Y: "tokens/s", Amounts: true, Bars: bars, Caption: "More is better."}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Summary == nil {
			continue
		}
		name := namer(r, true)(c)
		seconds.Add(name, "", report.At(0, c.Summary.Total))
		tokens.Add(name, "", report.At(0, c.Summary.Effective))
	}
	return []report.Plot{seconds, tokens}
}

// stepsOf is N, 0 for a sampler that has none.
func stepsOf(c *CellReport) float64 {
	var n float64
	fmt.Sscan(c.Settings.Get("steps"), &n)
	return n
}

// callsPlot shows measured and expected calls.
func callsPlot(r *Report) report.Plot {
	p := report.Plot{Name: "calls-steps", Title: "Network calls a sequence", X: "N", Y: "calls, finishing included", LogX: true, LogY: true, Bars: report.Intervals(r.Settings.Confidence, "sequences"),
		Caption: "Points are measured, dotted lines are the exact expectation of the sampler's law."}
	expected := p
	name := namer(r, false)
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
	p.Series = append(p.Series, expected.Series...)
	return p
}

// front is a picture of a metric, lower being better, against a cost.
type front struct {
	name, title, x, y, metric string
	log                       bool
	style                     string // points alone where cost does not rise with N but for noise
	at                        func(c *CellReport) (estimate.Estimate, bool)
}

// plot is the picture, without a point where no cell has its numbers.
func (f front) plot(r *Report) report.Plot {
	p := report.Plot{Name: f.name, Title: f.title, X: f.x, Y: f.y, LogX: true, LogY: f.log, Bars: report.Intervals(r.Settings.Confidence, "samples"),
		Caption: "Less of both is better. A ring is around a setting that is below every one that costs no more, by more than their errors."}
	var all []report.Point
	name := namer(r, false)
	for i := range r.Cells {
		c := &r.Cells[i]
		x, ok := f.at(c)
		y, has := c.metric(f.metric)
		if !ok || !has || math.IsInf(y.Mean, 0) {
			continue
		}
		at := report.At(x.Mean, y)
		if f.log && y.Mean <= rounding {
			at = report.Point{X: x.Mean}
		}
		all = append(all, at)
		p.Add(name(c), f.style, at)
	}
	for _, at := range Pareto(all) {
		p.Add("Pareto front", report.StyleMarks, report.Point{X: at.X, Y: at.Y})
	}
	return p
}

// ratePlot shows TV against steps, with the collision bound and what exponents were fitted. No
// exponent of KL is fitted.
func ratePlot(r *Report) report.Plot {
	p := report.Plot{Name: "error-steps", Title: "TV from First-Hitting against steps", X: "N", Y: "TV(P_FHS, P_N)", LogX: true, LogY: true, Bars: report.Intervals(r.Settings.Confidence, "samples")}
	bounds := p
	name := namer(r, false)
	for i := range r.Cells {
		c := &r.Cells[i]
		e, ok := c.metric("tv")
		n := stepsOf(c)
		if !ok || n == 0 {
			continue
		}
		if e.Mean <= rounding {
			e = exact(0)
		}
		p.Add(name(c), "", report.At(n, e))
		if b, ok := c.metric("tv_collision_bound"); ok {
			bounds.Add(name(c)+", collision bound", report.StyleLine, report.Point{X: n, Y: b.Mean})
		}
	}
	p.Series = append(p.Series, bounds.Series...)
	p.Caption = "Dotted lines are the collision bounds. First-Hitting is 0 everywhere."
	var fits []string
	for _, f := range r.Rates {
		if f.PaperUpper != nil || f.PaperLower != nil {
			p.Guide = -1
		}
		if e := f.Exponent; f.Kind == "fit" && !math.IsNaN(e.Mean+e.Lo+e.Hi) && !math.IsInf(e.Lo, 0) && !math.IsInf(e.Hi, 0) {
			fits = append(fits, fmt.Sprintf("%s %d..%d: N^%.2f (%.2f..%.2f)", f.Series, f.Steps[0], f.Steps[len(f.Steps)-1], e.Mean, e.Lo, e.Hi))
		}
	}
	p.Caption += " Fitted exponents: " + cmp.Or(strings.Join(fits, "; "), "none, for lack of three numbers of steps of at least the window's length whose samples tell one") + "."
	return p
}

// Pareto returns the points that lie below every one that costs no more, lower X and Y being
// better, by more than the errors of both: by rising X, of equal points the first. Of the
// cheapest points it is the lowest.
func Pareto(points []report.Point) []report.Point {
	all := slices.Clone(points)
	slices.SortStableFunc(all, func(a, b report.Point) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	half := func(p report.Point) float64 { return (p.Hi - p.Lo) / 2 }
	var out []report.Point
	for i, at := range all {
		if !slices.ContainsFunc(all[:i], func(o report.Point) bool { return o.Y-at.Y <= math.Hypot(half(o), half(at)) }) {
			out = append(out, at)
		}
	}
	return out
}
