package oracle

import (
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/samplers/schedule"
)

// This file computes values in tables of the paper's statements that no command prints.

// collision returns the probability that some step reveals two or more of d positions, when any
// number may stay masked: 1 − Σ_j C(d,j)·p_M^j·p*_{d−j}, with p* e to the power of
// [schedule.Steps.LogApart].
func collision(d int, reveal []float64, left float64) float64 {
	var none laws.Sum
	steps := schedule.Steps{Reveal: reveal, Stay: []float64{left}}
	choose := 1.0
	for j := range d + 1 {
		none.Add(choose * math.Pow(left, float64(j)) * math.Exp(steps.LogApart(d-j, false)))
		choose *= float64(d-j) / float64(j+1)
	}
	return 1 - none.Value()
}

// exactScoreConstantSteps returns [exactScoreRateIntegral] on n equal steps from t to delta.
func exactScoreConstantSteps(d int, t, delta float64, n int) float64 {
	eta := (t - delta) / float64(n)
	var sum laws.Sum
	grow, rise := math.Expm1(eta), 0.0 // rise is e^θ − 1 at θ = δ + kη
	for k := 1; k <= n; k++ {
		// Products, all of one sign, and the function itself every 64 steps.
		if rise += grow * (rise + 1); k%64 == 1 {
			rise = math.Expm1(delta + float64(k)*eta)
		}
		sum.Add(1 / rise)
	}
	return float64(d) * expm2(eta) * sum.Value()
}

// exactScoreRHS returns Theorem 1's right side for the exact posterior.
func exactScoreRHS(d int, theta []float64) float64 {
	return theory.InitialTV(d, theta[0]) + exactScoreRateIntegral(d, theta)
}

// exactScoreRounding bounds the rounding error of Theorem 1's integral when it is summed in the
// paper's form, with differences of exponentials: half a unit in the last place of each e^(−θ_k),
// times differences of r_k, which add up to the last one. It matters only for small δ: d·2^−53/δ.
func exactScoreRounding(d int, theta []float64) float64 {
	last := 1.0 // r_{N−1} + 1
	var rise float64
	for k := range len(theta) - 1 {
		r := 1 / math.Expm1(theta[k])
		last = r + 1
		rise += r * (theta[k] - theta[k+1])
	}
	return float64(d) * (0x1p-53*last + 0x1p-52*rise)
}

// constantTimes returns n+1 forward times from t to delta in equal steps.
func constantTimes(t, delta float64, n int) []float64 {
	out := make([]float64, n+1)
	for k := range out {
		out[k] = t - (t-delta)*float64(k)/float64(n)
	}
	out[n] = delta
	return out
}

// planOf returns the plan of a grid sampler with the given reveal probabilities w_k and probability
// of staying masked.
func planOf(reveal []float64, left float64) stepPlan {
	var same laws.Sum
	for _, w := range reveal {
		same.Add(w * w)
	}
	return stepPlan{Left: left, SameStep: same.Value()}
}

// frozenDistance returns the right side of Theorem 1, for frozen rates and the exact score, by the
// number of steps, with a guess of the number at which it is √ε. That number is sufficient for all
// data of length d without MASK.
func frozenDistance(d int, eps, t float64) (of func(n int) float64, guess int) {
	gamma := gamma3(d, eps)
	initial := theory.InitialTV(d, t+gamma)
	return func(n int) float64 { return initial + exactScoreConstantSteps(d, t+gamma, gamma, n) },
		int(float64(d) * t / math.Sqrt(eps) * math.Log(1/gamma) / 2)
}

// gridLowerBound returns the lower bound on the pairs' TV on any n-step grid that follows from Σ
// w_k² ≥ (1−p_M)²/N: 1−(1−(1−1/V)(1−p_M)²/n)^(d/2).
func gridLowerBound(d, v, n int, left float64) float64 {
	return -math.Expm1(float64(d/2) * math.Log1p(-(1-1/float64(v))*(1-left)*(1-left)/float64(n)))
}

// exactMask returns the probability (1−e^(−γ))/(1−e^(−T−γ)) that the exact reverse chain from
// all-mask, over [γ, T+γ], leaves a position masked.
func exactMask(t, gamma float64) float64 { return math.Expm1(-gamma) / math.Expm1(-t-gamma) }

// lemma1Count returns (T + log 1/δ)/κ, Lemma 1's count for the paper's grid up to 1+o(1).
func lemma1Count(t, delta, kappa float64) float64 { return (t - math.Log(delta)) / kappa }
