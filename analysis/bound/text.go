package bound

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers"
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
	// checkedFree is how many positions of a window the normalisation check draws at most:
	// few rows a sample, and ratios that vary little.
	checkedFree = 6
	// mixture is how many orders the law of the normalisation check mixes.
	mixture = 16
)

// The streams of a report: seeds of its draws, apart from each other.
const (
	seedOrders = 0x6f72646572730000
	seedFHS    = 0x6668730000000000
	seedPlans  = 0x706c616e73000000
	seedBoot   = 0x626f6f7400000000
)

// Text states the paper's Theorem 4 on windows of a text, each of which has at most
// [likelihood.MaxFree] free positions, all from one table of 2^d rows a window. cluster
// has a number for each window that dependent windows share; nil where all are
// independent.
func Text(ctx context.Context, m model.Model, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int, cfg Config) (Report, error) {
	if err := timeFree(e); err != nil {
		return Report{}, err
	}
	if len(ts) == 0 {
		return Report{}, fmt.Errorf("bound: no windows")
	}
	w := &worker{e: e, cases: cfg.Cases, done: cfg.Done}
	ws, err := w.windows(ctx, ts, nil)
	if err != nil {
		return Report{}, err
	}
	out := newDraft("text")
	of := func(f func(w window) float64) Value { return of(mean(each(ws, f), cluster, cfg.Confidence)) }
	gap := func(w window) float64 { return minus(w.nelbo, w.fhs) }
	fhs, nelbo := func(w window) float64 { return w.fhs }, func(w window) float64 { return w.nelbo }
	gaps := each(ws, gap)
	line := Line{Name: "jensen", Statement: "−log P_FHS(x0) ≤ NELBO(x0) on every window (Jensen over orders, in the proof of Theorem 4)", Left: of(fhs), Right: of(nelbo), Gap: of(gap)}
	verdict, ok := exactly(gaps, exactLimit)
	out.judged(line, verdict, ok)
	line.Name, line.Statement = "theorem4", "KL(q0‖P_FHS) ≤ ε″, as E[−log P_FHS] ≤ E[NELBO] over the text, from which H(q0) cancels (Theorem 4)"
	out.estimated(line, oneSided, func(c float64) estimate.Estimate { return mean(gaps, cluster, c) })
	scoreEntropy(out, ws, of)
	if cfg.Draws > 0 {
		if err := normalisation(ctx, out, m, w, ts, cfg); err != nil {
			return Report{}, err
		}
	}
	plot := Plot{Name: "gap", Title: "NELBO − (−log P_FHS) by window", X: "window", Y: "nats", Series: []Series{{Name: "gap"}}}
	for i, g := range gaps {
		addTo(&plot.Series[0], Point{X: float64(i), Y: g})
	}
	out.Plots = append(out.Plots, plot)
	excess(out, cfg.Cases, ws, of)
	out.Notes = append(out.Notes,
		"Jensen's inequality holds for any rows of probabilities: a negative gap would be a defect of this program and not of the network. What shows wrong log-probabilities is the normalisation.",
		"The entropy H(q0) of the text is not known and cancels: the mean gap is ε″ − KL(q0‖P_FHS), and tells neither of the two alone.",
		"The excess of a grid sampler over first-hitting has no sign on a text, so that no verdict is given on it.")
	return out.finish(), nil
}

// scoreEntropy states that the integrated score entropy is the NELBO.
func scoreEntropy(out *draft, ws []window, of func(func(window) float64) Value) {
	diffs := each(ws, func(w window) float64 {
		return minus(w.entropy, w.nelbo) / max(1, math.Abs(w.nelbo))
	})
	line := Line{Name: "score_entropy", Statement: "∫ L_SE dt from score values, by quadrature over λ, is the NELBO (Proposition 2, one text; relative)"}
	line.Left, line.Right = of(func(w window) float64 { return w.entropy }), of(func(w window) float64 { return w.nelbo })
	line.Gap = of(func(w window) float64 { return minus(w.nelbo, w.entropy) })
	verdict, ok := equally(diffs, entropyLimit)
	out.judged(line, verdict, ok)
}

// excess states what each sampler costs beside first-hitting, and the collision bound.
func excess(out *draft, cases []Case, ws []window, of func(func(window) float64) Value) {
	plot := Plot{Name: "nll", Title: "−log P of a window against the number of steps", X: "N", Y: "nats", LogX: true}
	first := Series{Name: "fhs"}
	for i, c := range cases {
		nll := func(w window) float64 { return w.cases[i] }
		line := Line{
			Name: "excess " + c.String(), Statement: "E[−log P_FHS] beside E[−log P_N], the line's sampler and N",
			Left: of(func(w window) float64 { return w.fhs }), Right: of(nll), Gap: of(func(w window) float64 { return minus(w.cases[i], w.fhs) }),
		}
		out.add(line)
		addPoint(&plot, c, point(float64(c.N), line.Right))
		if c.N > 0 && (len(first.Points) == 0 || first.Points[len(first.Points)-1].X < float64(c.N)) {
			addTo(&first, point(float64(c.N), line.Left))
		}
	}
	for i, c := range cases {
		if c.Bounded() {
			collision(out, c, i, ws, of)
		}
	}
	if len(plot.Series) > 0 {
		plot.Series = append(plot.Series, first)
		out.Plots = append(out.Plots, plot)
	}
}

// collision states P_N(x) ≥ p*·P_FHS(x) for case number i.
func collision(out *draft, c Case, i int, ws []window, of func(func(window) float64) Value) {
	d := func(w window) float64 {
		if math.IsInf(w.apart[i], -1) || math.IsInf(w.fhs, 1) {
			return math.Inf(1)
		}
		return w.fhs - w.apart[i] - w.cases[i]
	}
	line := Line{
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

// normalisation checks that first-hitting's probabilities sum to 1, of up to 6 positions of
// a window, chosen at random, given the others. A sample x is drawn along the first of 16 orders that are drawn for it, with the probability Q_1(x) that the
// draws themselves have; of the likelihoods come P_FHS(x), the chains Q̃_j(x) along all 16
// and their mean Q̃(x). Then
//
//	E[P_FHS(x)/Q̃(x) · Q̃_1(x)/Q_1(x)] = Σ_x P_FHS(x),
//
// the check E_{x∼Q}[P(x)/Q(x)] = 1 with Q the mixture of the 16 chains, whose ratio varies
// far less than that of a single chain.
func normalisation(ctx context.Context, out *draft, m model.Model, w *worker, ts []likelihood.Target, cfg Config) error {
	targets, first, orders := make([]likelihood.Target, cfg.Draws), make([][]int, cfg.Draws), make([][][]int, cfg.Draws)
	for i := range targets {
		t := ts[i%len(ts)]
		s := samplers.NewStream(cfg.Seed^seedOrders, uint64(i))
		var free []int
		for _, at := range shuffled(len(t.Free), s)[:min(len(t.Free), checkedFree)] {
			free = append(free, t.Free[at])
		}
		slices.Sort(free)
		targets[i] = likelihood.Target{IDs: t.IDs, Free: free}
		for range mixture {
			orders[i] = append(orders[i], shuffled(len(targets[i].Free), s))
		}
		first[i] = orders[i][0]
	}
	sample, err := draw(ctx, m, targets, first, cfg.Seed)
	if err != nil {
		return err
	}
	plain := worker{e: w.e, done: w.done}
	ws, err := plain.windows(ctx, sample.targets, orders)
	if err != nil {
		return err
	}
	ratios, off := make([]float64, cfg.Draws), make([]float64, cfg.Draws)
	for i, w := range ws {
		terms := make([]float64, len(w.orders))
		for j, c := range w.orders {
			terms[j] = math.Exp(w.orders[0] - c)
		}
		var sum float64
		for _, v := range terms {
			sum += v / mixture
		}
		// Q̃ = Q̃_1·sum, and so the ratio is P/(Q_1·sum).
		ratios[i] = math.Exp(-w.fhs-sample.logs[i]) / sum
		off[i] = sample.logs[i] + w.orders[0]
	}
	drawsAgree(out, sample.logs, off, cfg.Confidence)
	normalised(out, ratios, cfg.Confidence, fmt.Sprintf("the mixture of the network's chains along %d random orders, over up to %d positions given the others", mixture, checkedFree))
	return nil
}

// drawsAgree states that log-probabilities are those that samples were drawn with.
func drawsAgree(out *draft, logs, off []float64, confidence float64) {
	costs := make([]float64, len(logs))
	for i := range logs {
		costs[i] = off[i] - logs[i]
	}
	drawnAs := make([]float64, len(logs))
	for i := range logs {
		drawnAs[i] = -logs[i]
	}
	verdict, ok := equally(off, drawLimit)
	out.judged(Line{
		Name: "draws", Statement: "−log of the probabilities that samples were drawn with is that of the likelihoods",
		Left: of(mean(drawnAs, nil, confidence)), Right: of(mean(costs, nil, confidence)), Gap: of(mean(off, nil, confidence)),
	}, verdict, ok)
}

// normalised states that the mean of ratios is 1.
func normalised(out *draft, ratios []float64, confidence float64, law string) {
	less := make([]float64, len(ratios))
	for i, r := range ratios {
		less[i] = 1 - r
	}
	out.estimated(Line{
		Name: "normalisation", Statement: "E_{x∼Q}[P_FHS(x)/Q(x)] = 1, Q " + law,
		Left: of(mean(ratios, nil, confidence)), Right: exactValue(1), Gap: of(mean(less, nil, confidence)), Unit: "probability",
	}, twoSided, func(c float64) estimate.Estimate { return mean(less, nil, c) })
}

// addTo appends a finite point.
func addTo(s *Series, p Point) {
	if !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) {
		s.Points = append(s.Points, p)
	}
}
