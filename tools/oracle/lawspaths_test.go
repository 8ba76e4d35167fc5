package oracle

import (
	"math"

	"mdmgen/analysis/laws"
)

// pathProbabilities returns Π μ along the D! orders, lexicographic, in which First-Hitting on a
// time-free world may reveal a sequence. Their mean is the probability of the sequence.
func pathProbabilities(w *laws.World, sequence int) []float64 {
	tokens, rows := w.Sequence(sequence), w.Rows(1)
	var out []float64
	laws.Orders(w.D, func(order []int) {
		state, p := w.AllMask(), 1.0
		for _, l := range order {
			a := tokens[l]
			p *= w.Row(rows, state, l)[a]
			state = w.Reveal(state, l, a)
		}
		out = append(out, p)
	})
	return out
}

// planBound returns E[−log((P_1+…+P_K)/K)] for K independent plans, each with one of the given path
// probabilities, equally likely; +Inf if one of them is 0. From −log s = ∫_0^∞ (e^(−us) − e^(−u))
// du/u it is
// −log s = ∫_0^∞ (e^(−us) − e^(−u)) du/u it is
//
//	log K + ∫_{−∞}^{∞} (M(e^v)^K − e^(−e^v)) dv,  M(u) = E e^(−uP),
//
// by the trapezoidal rule, which converges exponentially here. The cost does not depend on K.
// planBound panics if k is below 1.
func planBound(paths []float64, k int) float64 {
	if k < 1 {
		panic("laws: a bound of no plans")
	}
	scale, least := 0.0, math.Inf(1)
	for _, p := range paths {
		scale, least = max(scale, p), min(least, p)
	}
	if !(least > 0) {
		return math.Inf(1)
	}
	if least == scale {
		return -math.Log(scale)
	}
	const step = 1. / 8
	var sum laws.Sum
	last := int(math.Ceil(math.Log(800*scale/least) / step))
	for i := -int(45 / step); i <= last; i++ {
		u := math.Exp(float64(i) * step)
		// 1 − M without cancellation at small u.
		rest := 0.0
		for _, p := range paths {
			rest -= math.Expm1(-u * p / scale)
		}
		rest /= float64(len(paths))
		sum.Add(math.Expm1(float64(k)*math.Log1p(-min(rest, 1))) - math.Expm1(-u))
	}
	return math.Log(float64(k)) - math.Log(scale) + step*sum.Value()
}
