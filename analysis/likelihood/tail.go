package likelihood

import (
	"context"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/model/facts"
)

// The integral of raw scores over all times has a limit only if their mass c = Σ s/r grows more
// slowly than e^σ, σ = −log α: the integrand is c·e^(−σ). Scores that do not decrease like r as σ
// grows, as in a network without ScaleBySigma that was not trained that far, have no limit. From
// half that rate of growth on, a draw at uniform λ has no finite variance, and its mean is
// meaningless.
const (
	// The growth of log c is measured between the σ tailFrom and tailTo.
	tailFrom, tailTo = 10.0, 20.0
	maxGrowth        = 0.5
	// tailPositions is the number of rows whose growth is averaged.
	tailPositions = 8
)

// unresolvedTail reports whether estimates of integrals of raw scores are meaningless, from two
// rows of a window at large σ.
func (e *Evaluator) unresolvedTail(ctx context.Context, t *Target) (bool, error) {
	if e.facts.Output != facts.LogScore || !e.facts.TimeConditioned {
		return false, nil
	}
	wanted := t.Free[:min(len(t.Free), tailPositions)]
	asks := make([]Ask, 2)
	for i, sigma := range []float64{tailFrom, tailTo} {
		asks[i] = Ask{Target: t, Masked: t.Free, Wanted: wanted, Lambda: -math.Expm1(-sigma), LogMu: make([]float64, len(wanted)), LogMass: make([]float64, len(wanted))}
	}
	if err := e.Eval(ctx, asks); err != nil {
		return false, err
	}
	var growth float64
	for j := range wanted {
		growth += (asks[1].LogMass[j] - asks[0].LogMass[j]) / (tailTo - tailFrom) / float64(len(wanted))
	}
	return !(growth <= maxGrowth), nil
}

// notResolved replaces an estimate of an integral that may have no limit.
func notResolved(e estimate.Estimate) estimate.Estimate {
	e.Mean, e.SE, e.Lo, e.Hi = math.NaN(), math.Inf(1), math.Inf(-1), math.Inf(1)
	e.Warnings = []string{"not resolved: the mass of the raw scores grows with time so fast that their integral over all times may have no limit"}
	return e
}
