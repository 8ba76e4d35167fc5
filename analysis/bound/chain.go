package bound

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/draw"
)

// Chain takes the network's own left-to-right chain as the data's distribution q0: temperature 1,
// nothing truncated, positions to the right masked. Its entropy and probabilities are then known.
// Samples of q0 give KL(q0‖P_FHS) and ε″ = E[NELBO] − H(q0), both sides of the paper's Theorem 4,
// and the distances of the other samplers from q0; samples of P_FHS give TV(P_FHS,P_N) and
// KL(P_FHS‖P_N). t gives the canvas: its free positions are drawn, the others are given. If ctx
// ends, the report covers the samples computed so far.
func Chain(ctx context.Context, m model.Model, e *likelihood.Evaluator, t likelihood.Target, cfg Config) (Report, error) {
	switch {
	case e.Facts().TimeConditioned:
		return Report{}, fault.Errorf("bound", "the network is time-conditioned: its First-Hitting samples are drawn at random times, and no collision bound compares other samplers with them: give a text")
	case cfg.Draws < 1:
		return Report{}, fault.Errorf("bound", "%d draws: must be at least 1", cfg.Draws)
	}
	apart, err := newAparts([]likelihood.Target{t}, cfg.Cases)
	if err != nil {
		return Report{}, err
	}
	targets, along, uniform := slices.Repeat([]likelihood.Target{t}, cfg.Draws), make([][]int, cfg.Draws), make([][]int, cfg.Draws)
	for i := range targets {
		along[i] = likelihood.InOrder(len(t.Free))
		// First-hitting reveals in uniform order; without time, the hitting times do not matter.
		uniform[i] = shuffled(len(t.Free), draw.NewStream(cfg.Seed^seedOrders, uint64(i)))
	}
	w := &worker{e: e, cases: cfg.Cases, done: cfg.Done}
	sample := func(orders [][]int, seed uint64) (drawn, []window, error) {
		x, err := drawAlong(ctx, m, targets, orders, seed)
		if err != nil {
			return x, nil, err
		}
		ws, err := w.windows(ctx, x.targets)
		return x, ws, err
	}
	fromChain, chain, ended := sample(along, cfg.Seed)
	if ended != nil && (len(chain) == 0 || ctx.Err() == nil) {
		return Report{}, ended
	}
	out := newDraft("chain", cfg.Confidence)
	theorem4(out.over(nil), chain, fromChain.logs[:len(chain)])
	if ended == nil {
		var whole bool
		if whole, ended = summed(ctx, out, e, t); !whole {
			normalised(out, ratios(chain, fromChain.logs), "the left-to-right chain")
		}
	}
	onChain(out.over(nil), chain, cfg, apart)
	var fhs []window
	if ended == nil {
		_, fhs, ended = sample(uniform, cfg.Seed^seedFHS)
	}
	if len(fhs) > 0 {
		discretisation(out, fhs, cfg, apart)
	}
	if ended == nil {
		var c certified
		if c, ended = certify(ctx, m, t, cfg.Cases, certificateRuns, cfg.Seed); ended == nil {
			c.lines(out, cfg.Cases, fhs)
		}
	}
	if ended != nil && ctx.Err() == nil {
		return Report{}, ended
	}
	out.note("q0 is the network's own left-to-right chain. KL(q0‖P_FHS), ε″ and the distances from q0 measure how inconsistent the network is between orders, not its error on a text.",
		"TV(P_FHS, P_N) and KL(P_FHS‖P_N) measure only the cost of the sampler's grid; TV(q0, P_N) levels off at TV(q0, P_FHS).",
		"Means of log-ratios and ratios over samples have heavy tails where laws are far apart; an interval reflects only the samples drawn.")
	if len(fhs) > 0 && slices.ContainsFunc(cfg.Cases, func(c Case) bool { return c.Sampler.Left() > 0 }) {
		out.note("If masks remain at the end, TV tends to 1−(1−p_M)^d as N grows, and KL to −d·log(1−p_M).")
	}
	return out.finish(), ended
}

// theorem4 adds the statements about samples of q0; logs are their log-probabilities as drawn.
func theorem4(out means, ws []window, logs []float64) {
	chain, fhs, nelbo := each(ws, window.leftToRight), each(ws, window.fhs), each(ws, window.nelbo)
	kl, epsilon, gaps := differences(fhs, chain), differences(nelbo, chain), differences(nelbo, fhs)
	line := out.line("theorem4", "KL(q0‖P_FHS) ≤ ε″ (Theorem 4), q0 the network's left-to-right chain", kl, epsilon, gaps)
	line.Judgement = out.oneSided(gaps)
	line = out.line("jensen", "−log P_FHS(x) ≤ NELBO(x) for every x (Jensen over orders, in the proof of Theorem 4)", fhs, nelbo, gaps)
	line.Judgement = exactly(gaps, exactLimit)
	out.line("epsilon", "H(q0) and E[NELBO]: ε″ is their difference", chain, nelbo, epsilon)
	scoreEntropy(out, ws)
	off := make([]float64, len(ws))
	for i, log := range logs {
		off[i] = log + chain[i]
	}
	drawsAgree(out.draft, logs, off)
}

// ratios returns P_FHS/Q for samples of Q with log-probabilities logs.
func ratios(ws []window, logs []float64) []float64 {
	out := each(ws, window.fhs)
	for i, cost := range out {
		out[i] = math.Exp(-cost - logs[i])
	}
	return out
}

// onChain adds the distances of the samplers from q0.
func onChain(out means, ws []window, cfg Config, apart logCollisions) {
	chain, fhs := each(ws, window.leftToRight), each(ws, window.fhs)
	kl, tv := differences(fhs, chain), each(ws, func(w window) float64 { return quality.Shortfall(w.chain, w.fhs()) })
	for i, c := range cfg.Cases {
		costs := each(ws, func(w window) float64 { return w.cost(i) })
		out.line("kl_q0 "+c.String(), "KL(q0‖P_FHS) beside KL(q0‖P_N)", kl, differences(costs, chain), differences(costs, fhs)).About = c.String()
		right := each(ws, func(w window) float64 { return quality.Shortfall(w.chain, w.cost(i)) })
		out.add(report.Line{
			Name: "tv_q0 " + c.String(), Statement: "TV(q0, P_FHS) beside TV(q0, P_N)", Unit: "probability", About: c.String(),
			Left: out.within(tv, 0), Right: out.within(right, 0), Gap: out.within(differences(right, tv), -1),
		})
	}
	for i, c := range cfg.Cases {
		collision(out, c.String(), i, ws, func(w window) float64 { return apart.of(w, i) })
	}
}

// between returns a term of each window from −log P_FHS and −log P_N of case i.
func between(ws []window, i int, term func(fhs, cost float64) float64) []float64 {
	return each(ws, func(w window) float64 { return term(w.fhs(), w.cost(i)) })
}

// discretisation adds the statements about samples of P_FHS: the distances of the samplers' laws
// from it, next to the collision bound, which holds for the term of each sample.
func discretisation(out *draft, ws []window, cfg Config, apart logCollisions) {
	for _, what := range quality.Distances {
		plot := report.Plot{
			Name: what.Name, X: "N", LogX: true, LogY: true, Guide: what.Rate,
			Title: what.Of, Y: what.Unit, Bars: report.Intervals(cfg.Confidence, "samples"), Caption: "Dotted lines are the collision bounds.",
		}
		var bounds report.Plot
		for i, c := range cfg.Cases {
			apart := apart.of(ws[0], i)
			line := out.add(report.Line{
				Name: what.Name + " " + c.String(), About: c.String(), Statement: what.Of + " is at most the collision bound, sample by sample",
				Left: of(what.Mean(between(ws, i, what.Term), what.Bound(apart), cfg.Confidence)), Right: report.Exact(what.Bound(apart)), Unit: what.Unit,
			})
			line.Right.Bound = "upper"
			left, right := line.Left.Estimate, line.Right.Mean
			line.Gap = line.Left
			line.Gap.Mean, line.Gap.Lo, line.Gap.Hi = minus(right, left.Mean), minus(right, left.Hi), right-left.Lo
			line.Judgement = exactly(between(ws, i, func(fhs, cost float64) float64 { return minus(what.Bound(apart), what.Term(fhs, cost)) }), exactLimit)
			if math.IsInf(apart, -1) {
				line.Verdict += vacuous
			}
			plot.Add(c.Name, "", report.At(float64(c.N), left))
			bounds.Add(c.Name+", collision bound", report.StyleLine, report.Point{X: float64(c.N), Y: right})
		}
		plot.Series = append(plot.Series, bounds.Series...)
		out.plot(plot)
	}
}
