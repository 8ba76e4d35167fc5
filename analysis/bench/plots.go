package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// Plots returns the pictures for which a report has numbers: qualities against calls, TV against
// steps with the collision bound, calls against steps with their expectation, and seconds and
// tokens per second.
func Plots(r *Report) []report.Plot {
	const tv, kl, x = "TV(P_FHS, P_N)", "KL(P_FHS‖P_N), nats", "expected calls"
	out := []report.Plot{
		against(r, report.Plot{Name: "kl-calls", Title: "KL from First-Hitting against network calls", X: x, Y: kl, LogY: true}, "kl", allCalls, "steps", "threshold"),
		against(r, report.Plot{Name: "error-calls", Title: "TV from First-Hitting against network calls", X: x, Y: tv, LogY: true}, "tv", allCalls, "steps", "threshold"),
		against(r, report.Plot{Name: "kl-certificate-calls", Title: "Certified bound on KL against network calls", X: x, Y: "bound on KL(P_FHS‖P_N), nats", LogY: true}, "kl_certificate", allCalls, "steps", "threshold"),
		against(r, report.Plot{Name: "self-nelbo-calls", Title: "NELBO of the samples under the model", X: x, Y: "nats per token"}, "self_nelbo", allCalls, "steps", "threshold"),
		against(r, report.Plot{Name: "generative-perplexity-calls", Title: "Generative perplexity", X: x, Y: "perplexity"}, "generative_perplexity", allCalls, "steps", "threshold"),
	}
	if len(r.Settings.Calls) == 0 { // otherwise N is the number of calls
		out = append(out, stepsPlot(r), callsPlot(r))
	}
	return report.Shown(append(out, amounts(r)...)...)
}

// namer returns a function that names cells by their IDs, without the fields that all cells share
// and without the settings along a curve.
func namer(r *Report, over ...string) func(c *CellReport) string {
	shared := strings.Fields(r.Cells[0].ID)[1:]
	for i := range r.Cells {
		has := strings.Fields(r.Cells[i].ID)
		shared = slices.DeleteFunc(shared, func(f string) bool { return !slices.Contains(has, f) })
	}
	return func(c *CellReport) string {
		parts := slices.DeleteFunc(strings.Fields(c.ID), func(f string) bool {
			key, _, set := strings.Cut(f, "=")
			return set && (slices.Contains(over, key) || key != "steps" && slices.Contains(shared, f))
		})
		for i, f := range parts { // "threshold threshold=0.9" repeats the name
			if key, value, _ := strings.Cut(f, "="); i > 0 && key == parts[0] {
				parts[i] = value
			}
		}
		return strings.NewReplacer(" steps=", ", N = ", " grid=", " ").Replace(strings.Join(parts, " "))
	}
}

// amounts plots seconds per sequence and tokens per second of every cell.
func amounts(r *Report) []report.Plot {
	bars := report.Intervals(r.Settings.Confidence, "repetitions")
	seconds := report.Plot{Name: "seconds", Title: "Seconds a sequence", Y: "seconds a sequence", Amounts: true, Bars: bars}
	tokens := report.Plot{Name: "tokens", Title: "Sampled tokens a second of wall-clock time", Y: "tokens/s", Amounts: true, Bars: bars}
	name := namer(r)
	for i := range r.Cells {
		if s := r.Cells[i].Summary; s != nil {
			seconds.Add(name(&r.Cells[i]), "", amount(s.Total))
			tokens.Add(name(&r.Cells[i]), "", amount(s.Effective))
		}
	}
	return []report.Plot{seconds, tokens}
}

// amount returns the point of an estimate of a nonnegative quantity, whose interval from a few
// repetitions may extend below 0.
func amount(e estimate.Estimate) report.Point {
	at := report.At(0, e)
	at.Lo = max(at.Lo, 0)
	return at
}

// stepsOf returns N, 0 for a sampler without steps.
func stepsOf(c *CellReport) float64 {
	var n float64
	fmt.Sscan(c.Settings.Get("steps"), &n)
	return n
}

// above returns how far the interval extends above the mean, 0 if the numbers are all equal.
func above(e estimate.Estimate) float64 {
	if e.SE == 0 {
		return 0
	}
	return e.Hi - e.Mean
}

// callsPlot plots measured and expected calls.
func callsPlot(r *Report) report.Plot {
	p := report.Plot{Name: "calls-steps", Title: "Network calls a sequence", X: "N", Y: "calls, finishing included", LogX: true, LogY: true, Bars: report.Intervals(r.Settings.Confidence, "sequences"),
		Caption: "Points are measured, dotted lines are the exact expectation of the sampler's law."}
	expected := p
	name := namer(r, "steps")
	for i := range r.Cells {
		c := &r.Cells[i]
		n := stepsOf(c)
		if n == 0 || c.Summary == nil {
			continue
		}
		calls, finish := c.Summary.Calls, c.Summary.FinishCalls
		half := math.Hypot(above(calls), above(finish))
		y := calls.Mean + finish.Mean
		p.Add(name(c), report.StylePoints, report.Point{X: n, Y: y, Lo: y - half, Hi: y + half})
		expected.Add(name(c)+", expected", report.StyleLine, report.Point{X: n, Y: c.Expected.All()})
	}
	p.Series = append(p.Series, expected.Series...)
	return p
}

// against plots a metric against a cost for the cells that have both, as curves along some
// settings.
func against(r *Report, p report.Plot, metric string, at func(c *CellReport) (estimate.Estimate, bool), over ...string) report.Plot {
	p.LogX, p.Bars = true, report.Intervals(r.Settings.Confidence, "samples")
	name := namer(r, over...)
	for i := range r.Cells {
		c := &r.Cells[i]
		x, ok := at(c)
		y, has := c.metric(metric)
		if !ok || !has {
			continue
		}
		if p.LogY && y.Mean <= rounding {
			y = estimate.Exact(0)
		}
		if metric == "tv" {
			y.Hi = min(y.Hi, 1) // TV is at most 1
		}
		p.Add(name(c), "", report.At(x.Mean, y))
	}
	return p
}

// stepsPlot plots TV against steps, with the collision bound.
func stepsPlot(r *Report) report.Plot {
	p := report.Plot{Name: "error-steps", Title: "TV from First-Hitting against steps", X: "N", Y: "TV(P_FHS, P_N)", LogY: true, Caption: "Dotted lines are the collision bounds."}
	n := func(c *CellReport) (estimate.Estimate, bool) { return estimate.Exact(stepsOf(c)), stepsOf(c) > 0 }
	p = against(r, p, "tv", n, "steps")
	name := namer(r, "steps")
	for i := range r.Cells {
		c := &r.Cells[i]
		if b, ok := c.metric("tv_collision_bound"); ok {
			p.Add(name(c)+", collision bound", report.StyleLine, report.Point{X: stepsOf(c), Y: b.Mean})
		}
	}
	return p
}
