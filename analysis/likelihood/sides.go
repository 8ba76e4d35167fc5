package likelihood

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// The bounds from below. E[−log p̂_K] bounds −log P from above only; from below there
// are two, and conditions for each.

const (
	// mostSpread is the variance of log path probabilities up to which a lower side is
	// given. At K = 64, nominal one-sided 95 % intervals of it cover 87, 74 and 57 % for
	// standard deviations of 1, 2 and 3: spread-out paths need another method.
	mostSpread = 0.2
	// leastPaths is how many paths estimate that variance.
	leastPaths = 16
)

// Lower is a bound on −log P of a sampler from below, or the reason why there is none.
type Lower struct {
	// Estimate is of E[1 − log ψ − p̂/ψ] ≤ −log P, ψ the mean of half the paths and p̂ the
	// others; nil where there is a Reason.
	Estimate *estimate.Estimate `json:"estimate,omitempty"`
	Reason   string             `json:"reason,omitempty"`
	// Spread is the variance of the log path probabilities.
	Spread float64 `json:"spread"`
}

// lowerSide works it out from the costs −log p of independent paths.
func lowerSide(costs []float64, confidence float64) *Lower {
	n := len(costs)
	var mean, spread float64
	for _, c := range costs {
		mean += c / float64(n)
	}
	for _, c := range costs {
		spread += (c - mean) * (c - mean) / float64(n-1)
	}
	if n < leastPaths {
		return &Lower{Reason: fmt.Sprintf("no lower side: %d paths do not tell how spread out they are; at least %d do", n, leastPaths)}
	}
	if !(spread <= mostSpread) {
		out := &Lower{Reason: fmt.Sprintf("no lower side: log path probabilities have the variance %.3g, above %v, where its intervals fail", spread, mostSpread), Spread: spread}
		if math.IsNaN(spread) || math.IsInf(spread, 0) {
			out.Spread = 0
			out.Reason = "no lower side: a path cannot give the text"
		}
		return out
	}
	half := n / 2
	logs := make([]float64, half)
	for i := range logs {
		logs[i] = -costs[i]
	}
	logPsi := logSum(logs) - math.Log(float64(half))
	values := make([]float64, n-half)
	for i, c := range costs[half:] {
		values[i] = 1 - logPsi - math.Exp(-c-logPsi)
	}
	e := estimate.Mean(values, confidence)
	return &Lower{Estimate: &e, Spread: spread}
}

// Bracket encloses the entropy of the first-hitting sampler's own law, in nats: the
// mean of −log P over its own samples.
type Bracket struct {
	// Upper is E[−log p̂_K] over K fresh plans, Lower the same with the plan that
	// generated the sample among the K: in expectation Lower ≤ entropy ≤ Upper, for any
	// network and length (bidirectional Monte Carlo; Grosse et al., arXiv 1511.02543).
	Lower, Upper estimate.Estimate
	Rows         int
	// Paths are, for each sample, the logarithms of the path probabilities of K+1 plans, the
	// one that generated it first.
	Paths [][]float64
}

// Sides returns both bounds of each sample from its first k plans, k from 1 to K.
func (b Bracket) Sides(k int) (lower, upper []float64) {
	n := math.Log(float64(k))
	for _, logs := range b.Paths {
		lower, upper = append(lower, n-logSum(logs[:k])), append(upper, n-logSum(logs[1:k+1]))
	}
	return lower, upper
}

// Bracket draws samples of the free positions of t, whose tokens there are
// ignored, and encloses the entropy of their law given the others. done, where it is not nil, is called
// with the number of samples that are finished; when ctx ends while they are worked out, the bracket is that of the
// finished ones.
func (e *Evaluator) Bracket(ctx context.Context, t Target, draws, plans int, seed uint64, confidence float64, done func(samples int)) (Bracket, error) {
	if draws < 1 || plans < 1 {
		return Bracket{}, fault.Errorf("likelihood", "%d samples and %d plans: must be at least 1", draws, plans)
	}
	s, err := catalog.New(catalog.Options{Draw: e.opts.Draw}, e.model.Spec())
	if err != nil {
		return Bracket{}, err
	}
	indices := make([]uint64, draws)
	for i := range indices {
		indices[i] = uint64(i)
	}
	results, totals, err := e.Sample(ctx, t, s, seed, indices)
	if err != nil {
		return Bracket{}, err
	}
	out := Bracket{Rows: totals.Rows}
	var ended error
	for i, ids := range results {
		target := Target{IDs: ids, Free: t.Free}
		if err := e.Check(target); err != nil {
			return Bracket{}, err
		}
		var asks []Ask
		ends := make([]int, plans+1)
		fresh := draw.NewStream(^seed, uint64(i))
		for k := range plans + 1 {
			var p plan.Plan
			var u draw.Uniforms = fresh
			if k == 0 {
				u = draw.NewNumbers(seed, uint64(i)) // the plan that the sample was drawn with
			}
			if err := s.Plan(&p, u, t.Free); err != nil {
				return Bracket{}, err
			}
			asks = planAsks(asks, &target, &p, false)
			ends[k] = len(asks)
		}
		if ended = e.Eval(ctx, asks); ended != nil {
			break
		}
		out.Rows += len(asks)
		logs := make([]float64, plans+1)
		from := 0
		for k, to := range ends {
			logs[k] = -asksCost(asks[from:to])
			from = to
		}
		out.Paths = append(out.Paths, logs)
		if done != nil {
			done(1)
		}
	}
	lower, upper := out.Sides(plans)
	out.Lower, out.Upper = estimate.Mean(lower, confidence), estimate.Mean(upper, confidence)
	return out, ended
}
