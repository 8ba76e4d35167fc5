package theory

import "math"

// The tables of Theorem 3 are for ε in (0,1): γ = ε^(1/4)/d, constant Euler steps on
// [γ, T+γ] from the all-mask state, exact score, target √ε.

// Gamma3 is Theorem 3's noise time ε^(1/4)/d.
func Gamma3(d int, eps float64) float64 { return math.Pow(eps, 0.25) / float64(d) }

// Horizon3 is T = log(d/√ε).
func Horizon3(d int, eps float64) float64 { return math.Log(float64(d) / math.Sqrt(eps)) }

// A Distance is a total variation distance, or a bound of one, as a function of the
// number of steps.
type Distance struct {
	Of func(n int) float64
	// guess is where it is about √ε.
	guess float64
	eps   float64
}

// Steps is the least N at which the distance is at most √ε.
func (d Distance) Steps() Count { return LeastSteps(d.Of, math.Sqrt(d.eps), int(d.guess)) }

// PointDistance is TV for the paper's construction with T = t. The paper claims that
// d/√ε steps are needed, up to logarithms; it is T·√(d/2)·ε^(−1/4).
func PointDistance(d int, eps, t float64) Distance {
	c := Point{d, Gamma3(d, eps)}
	return Distance{
		Of:    func(n int) float64 { return c.TV(ConstantSteps(t+c.Gamma, c.Gamma, n)) },
		guess: t * math.Sqrt(float64(d)/2) / math.Pow(eps, 0.25),
		eps:   eps,
	}
}

// PairsDistance is the same for pairs of equal tokens over v of them: (1−1/V)·T·d/(4√ε)
// steps, which does prove the statement.
func PairsDistance(d, v int, eps, t float64) Distance {
	c := Pairs{d, v, Gamma3(d, eps)}
	return Distance{
		Of:    func(n int) float64 { return c.TV(ConstantSteps(t+c.Gamma, c.Gamma, n)) },
		guess: (1 - 1/float64(v)) * t * float64(d) / (4 * math.Sqrt(eps)),
		eps:   eps,
	}
}

// FrozenDistance is the right side of Theorem 1, frozen rates and exact score: its Steps
// are sufficient for every data of length d without MASK.
func FrozenDistance(d int, eps, t float64) Distance {
	gamma := Gamma3(d, eps)
	initial := InitialTV(d, t+gamma)
	return Distance{
		Of:    func(n int) float64 { return initial + ExactScoreConstantSteps(d, t+gamma, gamma, n) },
		guess: float64(d) * t / math.Sqrt(eps) * math.Log(1/gamma) / 2,
		eps:   eps,
	}
}

// StepsNeeded is the lower bound on the steps of every grid sampler that reveals each
// masked position independently with a common probability a step, on pairs of equal
// tokens noised for gamma, exact posterior, masks left: TV ≤ √ε forces
//
//	N ≥ (1−1/V)·(e^(−γ)−√ε)²/(1−(1−√ε)^(2/d)),
//
// for finite d and ε and without a hidden constant. It counts steps, not network calls, and does
// not bind first-hitting samplers.
func StepsNeeded(d, v int, eps, gamma float64) float64 {
	kept := max(math.Exp(-gamma)-math.Sqrt(eps), 0)
	return (1 - 1/float64(v)) * kept * kept / -math.Expm1(2/float64(d)*math.Log1p(-math.Sqrt(eps)))
}

// GridLowerBound is what Σ w_k² ≥ (1−p_M)²/N makes of the pairs' TV on any n-step grid:
// 1−(1−(1−1/V)(1−p_M)²/n)^(d/2).
func GridLowerBound(d, v, n int, left float64) float64 {
	return -math.Expm1(float64(d/2) * math.Log1p(-(1-1/float64(v))*(1-left)*(1-left)/float64(n)))
}

// ExactMask is the probability (1−e^(−γ))/(1−e^(−T−γ)) that the exact reverse chain from
// all-mask, run over [γ, T+γ], leaves a position masked.
func ExactMask(t, gamma float64) float64 { return math.Expm1(-gamma) / math.Expm1(-t-gamma) }
