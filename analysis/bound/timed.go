package bound

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
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
	for _, c := range w.cases {
		cost := likelihood.Exact{NegLog: out.fhs}
		if c.Sampler.Settings().Sampler != "fhs" {
			if cost, err = w.e.Exact(ctx, t, c.Sampler); err != nil {
				return out, fmt.Errorf("%s: %w", c, err)
			}
		}
		// No collision bound is about networks that look at the time.
		out.cases, out.apart = append(out.cases, cost.NegLog), append(out.apart, math.NaN())
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
func affordable(ts []likelihood.Target, cases []Case) error {
	most := 0
	for _, t := range ts {
		most = max(most, len(t.Free))
	}
	refuse := func(what string, nodes int) error {
		if rows := likelihood.TimedRows(most, nodes); most > likelihood.MaxFree || rows > likelihood.MaxRows {
			return fmt.Errorf("bound: %s: %w", what, &likelihood.TooLargeError{Free: most, Rows: rows, Most: min(likelihood.MaxFree, int(math.Log2(likelihood.MaxRows/float64(nodes))))})
		}
		return nil
	}
	if err := refuse("first-hitting by quadrature on a time-conditioned network", likelihood.DefaultNodes); err != nil {
		return err
	}
	for _, c := range cases {
		if err := timedUnknown(c); err != nil {
			return err
		}
		if steps, ok := c.Sampler.Steps(); ok {
			if err := refuse(c.String()+" on a time-conditioned network", steps.Grid.Steps()+1); err != nil {
				return err
			}
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
	slack, nodes := 0.0, 0
	for _, w := range ws {
		slack, nodes = max(slack, w.slack), max(nodes, w.nodes)
	}
	notes := []string{
		fmt.Sprintf("The network looks at the time: −log P_FHS and the NELBO are integrals over λ by quadrature with up to %d nodes, their errors together at most %.1g nats as the rules of half and a quarter of the nodes tell; grid samplers are exact.", nodes, slack),
		"The collision bound is about networks that do not look at the time, and is left out.",
	}
	if slack > 100*likelihood.QuadratureTolerance {
		notes = append(notes, "The rows that a window may take were used up before the quadrature's error was small: use shorter windows.")
	}
	return notes
}

// timedUnknown refuses samplers that ask a time-conditioned network at random times, and
// have no exact law on it.
func timedUnknown(c Case) error {
	if c.Sampler.Settings().Sampler == "parallel-fhs" {
		return errors.New("bound: parallel-fhs asks a time-conditioned network at random times of groups: no exact law of it is worked out; use --plans")
	}
	return nil
}
