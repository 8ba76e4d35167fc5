package schedule

import (
	"math"

	"mdmgen/internal/fault"
)

// Events counts the events of uniformization and MATU that reveal nothing on a grid. Given the
// reveals they are a Poisson process: what the bound exceeds the rate by.
type Events struct {
	grid Grid
	// aware says that the bound follows the number of masks (MATU).
	aware bool
	// bound [N+1] is Σ_{j<k} η_j·r(θ_{j+1}), the integral of the bound on one masked
	// position from T down to θ_k.
	bound []float64
	// Each is the expected number of events for each free position.
	Each float64
}

// mostEvents is how many events a position may expect, so that counts of long
// canvases stay whole numbers.
const mostEvents = 1e9

// NewEvents works out the events of [RuleUniformization] or [RuleMATU]. It is an error when an end
// of the grid is T = ∞ or δ = 0, or when a position expects more than 1e9 of them.
func NewEvents(rule Rule, g Grid) (*Events, error) {
	n := g.Steps()
	if math.IsInf(g.Theta[0], 1) {
		return nil, fault.Errorf("schedule", "T is infinite: the events of %s need a finite one", rule)
	}
	if g.Theta[n] <= 0 {
		return nil, fault.Errorf("schedule", "delta is 0: the rate that %s bounds is infinite there: give a positive delta", rule)
	}
	e := &Events{grid: g, aware: rule == RuleMATU, bound: make([]float64, n+1)}
	for k := range n {
		rate := 1 / math.Expm1(g.Theta[k+1])
		eta := g.Theta[k] - g.Theta[k+1]
		e.bound[k+1] = e.bound[k] + eta*rate
		if e.aware {
			// ∫ λ over the segment, each term positive: η − (e^(−θ_{k+1}) − e^(−θ_k)).
			e.Each += rate * (expm1Excess(eta) + g.Lambda[k+1]*-math.Expm1(-eta)) / g.Lambda[0]
		}
	}
	if !e.aware {
		e.Each = e.bound[n]
	}
	if !(e.bound[n] <= mostEvents) {
		return nil, fault.Errorf("schedule", "%s expects %.3g events a position on this grid: use more steps or a larger delta", rule, e.bound[n])
	}
	return e, nil
}

// expm1Excess is x + expm1(−x) = x²/2 − x³/6 + …, x ≥ 0.
func expm1Excess(x float64) float64 {
	if x > 1e-2 {
		return x + math.Expm1(-x)
	}
	return x * x / 2 * (1 - x/3*(1-x/4*(1-x/5*(1-x/6))))
}

// Thinned is the expected number of events without a reveal that belong to one
// position: the bound less the rate, integrated from T to θ = −log(1−λ_T·u) in segment k,
// where the position is revealed, or to δ with k = N and u = λ_δ/λ_T. Where the
// bound counts revealed positions too, it goes on to δ.
func (e *Events) Thinned(k int, u float64) float64 {
	bound := e.bound[len(e.bound)-1]
	if e.aware {
		bound = e.bound[k]
		if k < len(e.bound)-1 {
			bound += (e.grid.Theta[k] - ThetaOf(e.grid.Lambda[0]*u)) / math.Expm1(e.grid.Theta[k+1])
		}
	}
	return bound + math.Log(u)
}
