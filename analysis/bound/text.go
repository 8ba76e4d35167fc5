package bound

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

const (
	// entropyLimit is the greatest difference between the quadrature of the score entropy and the
	// NELBO, relative to max(1, NELBO).
	entropyLimit = 1e-9
	// drawLimit is the greatest difference, in nats, between the log-probability of a sample as
	// drawn and by the likelihoods, whose rows were computed in other batches: float32's rounding
	// is 1e-5.
	drawLimit = 1e-3
)

// cannotFail heads every report on a text.
const cannotFail = "On a text the verdict of Theorem 4 cannot fail, whatever the network: H(q0) cancels from its gap, and −log P_FHS ≤ NELBO holds for any rows of probabilities. It checks this program. Only the two sides are informative about the network."

// Report returns the report on the chunks taken, at least one: all of a study, or those finished
// before it was interrupted.
func (t *Tally) Report() Report {
	ws, b := t.taken.Windows, t.basis
	d := newDraft("text", b.Confidence)
	d.Head = cannotFail
	longest, inside := 0, false
	for _, w := range ws {
		longest, inside = max(longest, w.Length), inside || w.Free < w.Length
	}
	if !inside {
		d.note(fmt.Sprintf("P_FHS of a window is the law of a canvas of its own length, here up to %d positions with no text around them, not of a window in a longer canvas; with context, each window has preceding tokens of the text.", longest))
	}
	out := d.over(t.cluster())
	fhs, nelbo := each(ws, window.fhs), each(ws, window.nelbo)
	gaps, title, exact := differences(nelbo, fhs), "NELBO − (−log P_FHS) of windows", fhs
	if b.Plans > 0 {
		title, exact = "NELBO − K-plan bound of windows, a lower bound on the gap", nil
		line := out.line("plans", fmt.Sprintf("the bound by %d plans on −log P_FHS is at most the NELBO; NELBO − bound is a lower bound on the gap of Theorem 4", b.Plans), fhs, nelbo, gaps)
		line.Left.Bound, line.Gap.Bound = "upper", "lower"
		line.Judgement = out.oneSided(gaps)
		if b.TimeConditioned {
			entropy := each(ws, window.scoreEntropy)
			off := differences(nelbo, entropy)
			out.line("score_entropy", "∫ L_SE dt, by Monte Carlo over λ, is the NELBO, here the mean cost of the plans (Proposition 2)", entropy, nelbo, off).Judgement = out.same(off)
		}
	} else {
		line := out.line("jensen", "−log P_FHS(x0) ≤ NELBO(x0) on every window (Jensen over orders, in the proof of Theorem 4)", fhs, nelbo, gaps)
		line.Judgement = exactly(gaps, exactLimit)
		line = out.line("theorem4", "KL(q0‖P_FHS) ≤ ε″, as E[−log P_FHS] ≤ E[NELBO] over the text, from which H(q0) cancels (Theorem 4)", fhs, nelbo, gaps)
		line.Judgement = out.oneSided(gaps)
		scoreEntropy(out, ws)
	}
	if b.Baseline != "" {
		baselineLines(out, b.Baseline, floats(t.taken.Baseline), exact, nelbo)
	}
	d.plot(gapPlot(title, gaps, out.of(gaps).Estimate, b.Confidence))
	if b.Plans == 0 {
		excess(out, b, ws)
	}
	t.certificates().lines(d, each(b.Cases, func(c basicCase) Case { return c.Case }), nil)
	switch {
	case b.Plans > 0:
		if b.TimeConditioned {
			d.note("The network is time-conditioned: First-Hitting queries it at random times, over which no exact value integrates.")
		}
		d.note("The same orders serve both sides, so that their difference is never below 0 and varies little; the NELBO itself is an estimate.",
			"The gap is ε″ − KL(q0‖P_FHS), and this is a lower bound on it in expectation.")
	default:
		d.note("The mean gap is ε″ − KL(q0‖P_FHS), and determines neither of the two alone; a reference bounds each from below.",
			"The excess of a grid sampler over First-Hitting may have either sign on a text, so it has no verdict.")
	}
	return d.finish()
}

// scoreEntropy adds the statement that the integrated score entropy is the NELBO.
func scoreEntropy(out means, ws []window) {
	entropy, nelbo := each(ws, window.scoreEntropy), each(ws, window.nelbo)
	line := out.line("score_entropy", "∫ L_SE dt from score values, by quadrature over λ, is the NELBO (Proposition 2, one text; relative)", entropy, nelbo, differences(nelbo, entropy))
	line.Judgement = equally(each(ws, func(w window) float64 {
		return minus(w.scoreEntropy(), w.nelbo()) / max(1, math.Abs(w.nelbo()))
	}), entropyLimit)
}

// excess adds the cost of each sampler above first-hitting, and the collision bounds.
func excess(out means, b Basis, ws []window) {
	plot := report.Plot{
		Name: "excess", Title: "Excess of −log P over First-Hitting, by window", X: "expected calls a window", Y: "nats", LogX: true, LogY: true,
		Bars: report.Intervals(b.Confidence, "windows"), Caption: "The excess is the mean of differences window by window. It may be below 0: First-Hitting need not be the nearest to a text.",
	}
	fhs := each(ws, window.fhs)
	for i, c := range b.Cases {
		costs := each(ws, func(w window) float64 { return w.cost(i) })
		line := out.line("excess "+c.String(), "E[−log P_FHS] beside E[−log P_N], the line's sampler and N", fhs, costs, differences(costs, fhs))
		line.About = c.String()
		gap := line.Gap.Estimate
		if math.Abs(gap.Mean) <= exactLimit { // 0 up to rounding, which a logarithmic axis would show
			gap = estimate.Estimate{}
		}
		plot.Add(c.Name, "", report.At(calls(c, ws), gap))
	}
	for i, c := range b.Cases {
		if apart := func(w window) float64 { return float64(c.Apart[w.Free]) }; !math.IsNaN(apart(ws[0])) {
			collision(out, c.String(), i, ws, apart)
		}
	}
	out.plot(plot)
}

// vacuous is appended to the verdict on a collision bound with p* = 0.
const vacuous = "; p* = 0, so that nothing is claimed"

// collision adds the statement P_N(x) ≥ p*·P_FHS(x) for case i, whose name is given, as is log p* of
// a window.
func collision(out means, name string, i int, ws []window, apart func(w window) float64) {
	gaps := each(ws, func(w window) float64 {
		if math.IsInf(apart(w), -1) || math.IsInf(w.fhs(), 1) {
			return math.Inf(1)
		}
		return w.fhs() - apart(w) - w.cost(i)
	})
	line := out.line("collision "+name, "−log P_N(x) ≤ −log P_FHS(x) − log p* for every x: the collision bound of the line's sampler and N",
		each(ws, func(w window) float64 { return w.cost(i) }), each(ws, func(w window) float64 { return w.fhs() - apart(w) }), gaps)
	line.About, line.Judgement = name, exactly(gaps, exactLimit)
	if slices.ContainsFunc(ws, func(w window) bool { return math.IsInf(apart(w), -1) }) {
		line.Verdict += vacuous
	}
}

// gapPlot plots the gaps of windows, ascending, with their mean.
func gapPlot(title string, gaps []float64, mean estimate.Estimate, confidence float64) report.Plot {
	p := report.Plot{Name: "gap", Title: title, X: "windows, from the smallest gap to the greatest", Y: "nats", Bars: report.Intervals(confidence, "windows")}
	for i, g := range slices.Sorted(slices.Values(gaps)) {
		p.Add("a window", report.StylePoints, report.Point{X: float64(i + 1), Y: g})
	}
	p.Add("mean", report.StyleLine, report.Point{X: 1, Y: mean.Mean})
	p.Add("mean", report.StyleLine, report.At(float64(len(gaps)), mean))
	return p
}

// calls returns the expected number of network calls of a case, averaged over windows, including the
// call that fills the rest; NaN if it is not known.
func calls(c basicCase, ws []window) (sum float64) {
	for _, w := range ws {
		sum += float64(c.Calls[w.Free]) / float64(len(ws))
	}
	return sum
}
