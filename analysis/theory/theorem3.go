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
