package bound

import (
	"context"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/draw"
)

// Chain takes the network's own left-to-right chain for the data's law q0, whose entropy
// and probabilities are then known: temperature 1, nothing truncated, what is to the right
// masked. Samples of q0 give KL(q0‖P_FHS) and ε″ = E[NELBO] − H(q0), both sides of the
// paper's Theorem 4, and the distances from q0 of the other samplers; samples of P_FHS give
// TV(P_FHS,P_N) and KL(P_FHS‖P_N), and how the first falls with N. t names the canvas: its free
// positions are drawn, the others are given. When ctx ends, the report is about the samples
// that were done.
func Chain(ctx context.Context, m model.Model, e *likelihood.Evaluator, t likelihood.Target, cfg Config) (Report, error) {
	return confirmed(cfg, func(cfg Config) (Report, error) { return onChain(ctx, m, e, t, cfg) })
}

func onChain(ctx context.Context, m model.Model, e *likelihood.Evaluator, t likelihood.Target, cfg Config) (Report, error) {
	if err := timeFree(e); err != nil {
		return Report{}, err
	}
	if cfg.Draws < 1 {
		return Report{}, fault.Errorf("bound", "%d draws: must be at least 1", cfg.Draws)
	}
	targets, along, uniform := make([]likelihood.Target, cfg.Draws), make([][]int, cfg.Draws), make([][]int, cfg.Draws)
	for i := range targets {
		targets[i] = t
		along[i] = inOrder(len(t.Free))
		uniform[i] = shuffled(len(t.Free), draw.NewStream(cfg.Seed^seedOrders, uint64(i)))
	}
	w := &worker{e: e, cases: cfg.Cases, done: cfg.Done}
	out := newDraft("chain")
	fromChain, err := drawAlong(ctx, m, targets, along, 0, cfg.Seed)
	if err != nil {
		return Report{}, err
	}
	chain, ended := w.windows(ctx, fromChain.targets, nil)
	if ended != nil && (len(chain) == 0 || ctx.Err() == nil) {
		return Report{}, ended
	}
	fromChain.logs = fromChain.logs[:len(chain)]
	theorem4(out, chain, fromChain, cfg)
	var fhs []window
	if ended == nil {
		// First-hitting reveals in uniform order, and without time the hitting times say no more.
		var fromFHS drawn
		if fromFHS, ended = drawAlong(ctx, m, targets, uniform, 0, cfg.Seed^seedFHS); ended == nil {
			fhs, ended = w.windows(ctx, fromFHS.targets, nil)
		}
		if ended != nil && ctx.Err() == nil {
			return Report{}, ended
		}
		if len(fhs) > 0 {
			discretisation(out, fhs, cfg)
		}
		if len(fhs) > 0 && ended == nil {
			if ended = certificatesOfChain(ctx, out, m, t, fhs, cfg); ended != nil && ctx.Err() == nil {
				return Report{}, ended
			}
		}
	}
	out.Notes = append(out.Notes,
		"q0 is the network's own left-to-right chain. KL(q0‖P_FHS), ε″ and the distances from q0 measure how inconsistent the network is between orders, and not its error on a text.",
		"TV(P_FHS, P_N) and KL(P_FHS‖P_N) measure what the sampler's grid costs and nothing else; TV(q0, P_N) levels off at TV(q0, P_FHS).",
		"Exponents are local, the same samples serve every N and are resampled together; the logarithm of a mean is biased by about −CV²/2n. They test the rate in N and not Theorem 2, whose score is another.",
		"No exponent of KL is fitted: where laws are close the terms of its mean cancel, and a sample tells no rate of what is left.",
		"Means of log-ratios and ratios over samples have heavy tails where laws are far apart; an interval knows only of what was drawn.")
	if len(fhs) > 0 && masksStay(cfg.Cases) {
		out.Notes = append(out.Notes, "Where masks stay at the end, TV tends to 1−(1−p_M)^d as N grows, and KL to −d·log(1−p_M).")
	}
	return out.finish(), ended
}

func masksStay(cases []Case) bool {
	for _, c := range cases {
		if steps, ok := c.Sampler.Steps(); ok && !c.Sampler.Denoises() && steps.Left() > 0 {
			return true
		}
	}
	return false
}

// theorem4 states what samples of q0 tell.
func theorem4(out *draft, ws []window, x drawn, cfg Config) {
	of := func(f func(w window) float64) report.Value { return of(mean(each(ws, f), nil, cfg.Confidence)) }
	kl := func(w window) float64 { return minus(w.fhs, w.chain) }
	epsilon := func(w window) float64 { return minus(w.nelbo, w.chain) }
	gap := func(w window) float64 { return minus(w.nelbo, w.fhs) }
	gaps := each(ws, gap)
	out.estimated(report.Line{Name: "theorem4", Statement: "KL(q0‖P_FHS) ≤ ε″ (Theorem 4), q0 the network's left-to-right chain", Left: of(kl), Right: of(epsilon), Gap: of(gap)},
		oneSided, func(c float64) estimate.Estimate { return mean(gaps, nil, c) })
	verdict, ok := exactly(gaps, exactLimit)
	out.judged(report.Line{Name: "jensen", Statement: "−log P_FHS(x) ≤ NELBO(x) for every x (Jensen over orders, in the proof of Theorem 4)", Left: of(func(w window) float64 { return w.fhs }), Right: of(func(w window) float64 { return w.nelbo }), Gap: of(gap)}, verdict, ok)
	out.add(report.Line{Name: "epsilon", Statement: "H(q0) and E[NELBO]: ε″ is their difference", Left: of(func(w window) float64 { return w.chain }), Right: of(func(w window) float64 { return w.nelbo }), Gap: of(epsilon)})
	scoreEntropy(out, ws, of)
	off, ratios := make([]float64, len(ws)), make([]float64, len(ws))
	for i, w := range ws {
		off[i], ratios[i] = x.logs[i]+w.chain, math.Exp(-w.fhs-x.logs[i])
	}
	drawsAgree(out, x.logs, off, cfg.Confidence)
	normalised(out, ratios, 0, cfg.Confidence, "the left-to-right chain")
	pinsker(out, ws, cfg.Confidence)
	tv := func(w window) float64 { return quality.Shortfall(w.chain, w.fhs) }
	for i, c := range cfg.Cases {
		out.add(report.Line{Name: "kl_q0 " + c.String(), Statement: "KL(q0‖P_FHS) beside KL(q0‖P_N)", Left: of(kl), Right: of(func(w window) float64 { return minus(w.cases[i], w.chain) }), Gap: of(func(w window) float64 { return minus(w.cases[i], w.fhs) })})
		right := func(w window) float64 { return quality.Shortfall(w.chain, w.cases[i]) }
		out.add(report.Line{Name: "tv_q0 " + c.String(), Statement: "TV(q0, P_FHS) beside TV(q0, P_N)", Left: of(tv), Right: of(right), Gap: of(func(w window) float64 { return right(w) - tv(w) }), Unit: "probability"})
	}
	for i, c := range cfg.Cases {
		collision(out, c, i, ws, of)
	}
}

// pinsker states 2·TV(q0,P_FHS)² ≤ ε″. The square is linearised at the mean, and not the root
// of ε″ as the paper writes it: where ε″ is within its error of 0, a root has no error to tell.
func pinsker(out *draft, ws []window, confidence float64) {
	tv := each(ws, func(w window) float64 { return quality.Shortfall(w.chain, w.fhs) })
	at := mean(tv, nil, confidence).Mean
	squares, epsilons, gaps := make([]float64, len(ws)), make([]float64, len(ws)), make([]float64, len(ws))
	for i, w := range ws {
		squares[i], epsilons[i] = 2*at*(2*tv[i]-at), minus(w.nelbo, w.chain)
		gaps[i] = epsilons[i] - squares[i]
	}
	out.estimated(report.Line{
		Name: "pinsker", Statement: "2·TV(q0, P_FHS)² ≤ ε″ (Pinsker, from Theorem 4)",
		Left: of(mean(squares, nil, confidence)), Right: of(mean(epsilons, nil, confidence)), Gap: of(mean(gaps, nil, confidence)),
	}, oneSided, func(c float64) estimate.Estimate { return mean(gaps, nil, c) })
}
