package bound

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// Config says what is worked out on a network.
type Config struct {
	// Cases are the samplers that are compared with first-hitting.
	Cases []Case
	// Draws is the number of samples of the normalisation check, 0 for none; for [Chain]
	// that of samples of each of its two laws.
	Draws int
	// Plans is K of the bounds of windows that are too long for exact values.
	Plans int
	// Seed determines all that is drawn.
	Seed uint64
	// Confidence is that of intervals; 0 is 0.95.
	Confidence float64
	// Reference bounds both sides of Theorem 4 from below on a text; nil for none.
	Reference *Reference
	// Done is told of windows that are finished; nil for nobody.
	Done func(windows int)
}

// The limits of lines that are equalities or exact.
const (
	// entropyLimit is how far, relative to max(1, NELBO), the quadrature of the score
	// entropy may be from the NELBO.
	entropyLimit = 1e-9
	// drawLimit is how far, in nats, the log-probability of a sample as drawn may be from
	// that of the likelihoods, whose rows were asked in other batches: float32's rounding
	// is 1e-5.
	drawLimit = 1e-3
)

// The streams of a report: seeds of its draws, apart from each other.
const (
	seedOrders = 0x6f72646572730000
	seedFHS    = 0x6668730000000000
	seedPlans  = 0x706c616e73000000
	seedBoot   = 0x626f6f7400000000
	seedAgain  = 0x616761696e000000
)

// onText is the report of exact values.
func (s *Study) onText() Report {
	ws, ts, cfg := s.exact, s.ts[:len(s.exact)], s.cfg
	timed, cluster := s.e.Facts().TimeConditioned, s.cluster
	if cluster != nil {
		cluster = cluster[:len(ws)]
	}
	out := newDraft("text")
	out.Head, out.Notes = cannotFail, textNotes(ts)
	of := func(f func(w window) float64) report.Value { return of(mean(each(ws, f), cluster, cfg.Confidence)) }
	gap := func(w window) float64 { return minus(w.nelbo, w.fhs) }
	fhs, nelbo := func(w window) float64 { return w.fhs }, func(w window) float64 { return w.nelbo }
	gaps, slack := each(ws, gap), each(ws, func(w window) float64 { return w.slack })
	line := report.Line{Name: "jensen", Statement: "−log P_FHS(x0) ≤ NELBO(x0) on every window (Jensen over orders, in the proof of Theorem 4)", Left: of(fhs), Right: of(nelbo), Gap: of(gap)}
	judge := oneSided
	if timed {
		verdict, ok := withinSlack(gaps, slack)
		out.judged(line, verdict, ok)
		judge = oneSidedWithin(mean(slack, nil, 0).Mean)
	} else {
		verdict, ok := exactly(gaps, exactLimit)
		out.judged(line, verdict, ok)
	}
	line.Name, line.Statement = "theorem4", "KL(q0‖P_FHS) ≤ ε″, as E[−log P_FHS] ≤ E[NELBO] over the text, from which H(q0) cancels (Theorem 4)"
	out.estimated(line, judge, func(c float64) estimate.Estimate { return mean(gaps, cluster, c) })
	scoreEntropy(out, ws, of)
	if len(s.drawn) > 0 {
		s.normalisation(out)
	}
	if cfg.Reference != nil {
		cfg.Reference.lines(out, s.logp, each(ws, fhs), each(ws, nelbo), cfg.Confidence)
	}
	out.Plots = append(out.Plots, gapPlot("NELBO − (−log P_FHS) of windows", gaps, mean(gaps, cluster, cfg.Confidence), cfg.Confidence)...)
	excess(out, cfg, ws, of)
	s.runs.lines(out, cfg)
	out.Notes = append(out.Notes,
		"What shows wrong log-probabilities is the normalisation.",
		"The mean gap is ε″ − KL(q0‖P_FHS), and tells neither of the two alone; --reference bounds each from below.",
		"The excess of a grid sampler over first-hitting has no sign on a text, so that no verdict is given on it.")
	if timed {
		out.Notes = append(out.Notes, timedNotes(ws)...)
	}
	return out.finish()
}

// scoreEntropy states that the integrated score entropy is the NELBO.
func scoreEntropy(out *draft, ws []window, of func(func(window) float64) report.Value) {
	diffs := each(ws, func(w window) float64 {
		return minus(w.entropy, w.nelbo) / max(1, math.Abs(w.nelbo))
	})
	line := report.Line{Name: "score_entropy", Statement: "∫ L_SE dt from score values, by quadrature over λ, is the NELBO (Proposition 2, one text; relative)"}
	line.Left, line.Right = of(func(w window) float64 { return w.entropy }), of(func(w window) float64 { return w.nelbo })
	line.Gap = of(func(w window) float64 { return minus(w.nelbo, w.entropy) })
	verdict, ok := equally(diffs, entropyLimit)
	out.judged(line, verdict, ok)
}

// excess states what each sampler costs beside first-hitting, and the collision bound.
func excess(out *draft, cfg Config, ws []window, of func(func(window) float64) report.Value) {
	plot := report.Plot{
		Name: "excess", Title: "Excess of −log P over First-Hitting, by window", X: "expected calls a window", Y: "nats", LogX: true, LogY: true,
		Bars: report.Intervals(cfg.Confidence, "windows"), Caption: "The excess is the mean of differences window by window. It may be below 0: First-Hitting need not be the nearest to a text.",
	}
	free := each(ws, func(w window) float64 { return float64(w.d) })
	for i, c := range cfg.Cases {
		nll := func(w window) float64 { return w.cases[i] }
		line := report.Line{
			Name: "excess " + c.String(), Statement: "E[−log P_FHS] beside E[−log P_N], the line's sampler and N",
			Left: of(func(w window) float64 { return w.fhs }), Right: of(nll), Gap: of(func(w window) float64 { return minus(w.cases[i], w.fhs) }),
		}
		out.add(line)
		plot.Add(c.Name, "", report.At(calls(c, free), line.Gap.Estimate))
	}
	for i, c := range cfg.Cases {
		if c.Bounded() && !math.IsNaN(ws[0].apart[i]) {
			collision(out, c, i, ws, of)
		}
	}
	out.Plots = append(out.Plots, report.Shown(plot)...)
}

// collision states P_N(x) ≥ p*·P_FHS(x) for case number i.
func collision(out *draft, c Case, i int, ws []window, of func(func(window) float64) report.Value) {
	d := func(w window) float64 {
		if math.IsInf(w.apart[i], -1) || math.IsInf(w.fhs, 1) {
			return math.Inf(1)
		}
		return w.fhs - w.apart[i] - w.cases[i]
	}
	line := report.Line{
		Name: "collision " + c.String(), Statement: "−log P_N(x) ≤ −log P_FHS(x) − log p* for every x: the collision bound of the line's sampler and N",
		Left:  of(func(w window) float64 { return w.cases[i] }),
		Right: of(func(w window) float64 { return w.fhs - w.apart[i] }), Gap: of(d),
	}
	verdict, ok := exactly(each(ws, d), exactLimit)
	for _, w := range ws {
		if math.IsInf(w.apart[i], -1) {
			verdict += "; p* = 0, so that nothing is claimed"
			break
		}
	}
	out.judged(line, verdict, ok)
}
