package bound

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// timedWindow works out a window of a time-conditioned network: first-hitting and the NELBO
// by quadrature over λ, each sampler by what its law takes, and chains along orders at the
// times at which the ordered sampler asks.
func (w *worker) timedWindow(ctx context.Context, t likelihood.Target, orders [][]int) (window, error) {
	table, err := w.e.TimedTableWithin(ctx, t, w.tolerance, true)
	if err != nil {
		return window{}, err
	}
	d := len(t.Free)
	fhs, nelbo := table.FHS(), table.NELBO()
	out := window{d: d, fhs: fhs.Value, nelbo: nelbo.Value, slack: fhs.Error + nelbo.Error, entropy: table.ScoreEntropy().Normalised, nodes: table.Nodes()}
	if out.chain, err = w.along(ctx, t, inOrder(d)); err != nil {
		return out, err
	}
	var list []*catalog.Sampler
	for _, c := range w.cases {
		list = append(list, c.Sampler)
	}
	laws, err := w.e.Laws(ctx, t, list)
	if err != nil {
		return out, err
	}
	for _, law := range laws {
		// No collision bound is about networks that look at the time.
		out.cases, out.apart = append(out.cases, law.NegLog), append(out.apart, math.NaN())
		out.casesSlack = max(out.casesSlack, law.QuadratureError)
	}
	for _, o := range orders {
		cost, err := w.along(ctx, t, o)
		if err != nil {
			return out, err
		}
		out.orders = append(out.orders, cost)
	}
	return out, nil
}

// along is −log P of a chain along an order of the indices of t.Free.
func (w *worker) along(ctx context.Context, t likelihood.Target, order []int) (float64, error) {
	positions := make([]int, len(order))
	for i, at := range order {
		positions[i] = t.Free[at]
	}
	return w.e.Order(ctx, t, positions)
}

// affordable refuses windows and samplers whose exact values on a time-conditioned network
// would take too many rows, before anything is asked.
func affordable(e *likelihood.Evaluator, ts []likelihood.Target, cases []Case) error {
	most := 0
	for _, t := range ts {
		most = max(most, len(t.Free))
	}
	first, err := catalog.New(catalog.Options{}, samplers.Spec{})
	if err != nil {
		return err
	}
	for _, c := range append([]Case{{Name: "first-hitting by quadrature", Sampler: first}}, cases...) {
		if err := e.Fits(most, c.Sampler); err != nil {
			return fault.Errorf("bound", "%s on a time-conditioned network: %w", c, err)
		}
	}
	return nil
}

// withinSlack judges D_i ≥ 0 where each D_i is known up to slack_i.
func withinSlack(d, slack []float64) (verdict string, ok bool) {
	below, same, least := 0, 0, math.Inf(1)
	widest := slices.Max(slack)
	for i, v := range d {
		switch {
		case !(v >= -slack[i]-exactLimit):
			below++
		case math.Abs(v) <= slack[i]+exactLimit:
			same++
		}
		least = min(least, v)
	}
	switch n := len(d); {
	case below > 0:
		return fmt.Sprintf("violated: D_i < 0 by more than the quadrature's error on %d of %d, the least is %.3g ± %.1g, please report", below, n, least, widest), false
	case same == n:
		return fmt.Sprintf("equal within the quadrature's error of %.1g on all %d", widest, n), true
	case same > 0:
		return fmt.Sprintf("holds (quadrature): D_i ≥ 0 on %d of %d, equal within the error of %.1g on the others", n-same, n, widest), true
	}
	return fmt.Sprintf("holds (quadrature): D_i above its error, at most %.1g, on all %d", widest, len(d)), true
}

// oneSidedWithin is [oneSided] for terms with a known error, whose mean is slack.
func oneSidedWithin(slack float64) func(sampled, int) (string, bool) {
	return func(d sampled, lines int) (string, bool) {
		verdict, ok := oneSided(func(c float64) estimate.Estimate {
			e := d(c)
			// A violation must be one whatever the error is.
			if e.Hi < 0 {
				e.Lo, e.Hi = e.Lo+slack, e.Hi+slack
			} else {
				e.Lo -= slack
			}
			return e
		}, lines)
		if e := d(1 - 2*(1-sure)/float64(max(lines, 1))); math.Abs(e.Mean) <= slack && !math.IsInf(e.SE, 0) {
			return fmt.Sprintf("equal within %.1g: the mean is below the quadrature's error", max(math.Abs(e.Lo), math.Abs(e.Hi))+slack), true
		}
		return verdict + fmt.Sprintf(", the quadrature's error of %.1g counted in", slack), ok
	}
}

// timedNotes say what the quadrature is.
func timedNotes(ws []window) []string {
	slack, cases, nodes := 0.0, 0.0, 0
	for _, w := range ws {
		slack, cases, nodes = max(slack, w.slack), max(cases, w.casesSlack), max(nodes, w.nodes)
	}
	notes := []string{
		fmt.Sprintf("The network looks at the time: −log P_FHS and the NELBO are integrals over λ by quadrature with up to %d nodes, their errors together at most %.1g nats as the rules of half and a quarter of the nodes tell; grid samplers are exact.", nodes, slack),
		"The collision bound is about networks that do not look at the time, and is left out.",
	}
	if cases > 0 {
		notes[0] += fmt.Sprintf(" Samplers that ask at random times are by quadrature too, their errors at most %.1g.", cases)
	}
	if max(slack, cases) > 100*likelihood.QuadratureTolerance {
		notes = append(notes, "The rows that a window may take were used up before the quadrature's error was small: use shorter windows.")
	}
	return notes
}
