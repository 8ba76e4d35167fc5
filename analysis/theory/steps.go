package theory

import (
	"math"

	"mdmgen/analysis/estimate"
)

// Plan summarises when a grid sampler reveals a position: Left is the probability
// that it never does, SameStep is Σ_k w_k², the probability that two given positions
// are revealed in the same step.
type Plan struct{ Left, SameStep float64 }

// resync is the number of steps between exact evaluations of the exponential.
const resync = 64

// ConstantSteps is Euler's plan on n equal steps from t to delta, n up to 10^8:
//
//	p_k = η/(e^θ_k − 1),  Left = Π(1−p_k).
//
// e^θ − 1 is carried from step to step by one multiplication and renewed every 64
// steps; 1−Π(1−p_k) is carried inside a block of steps and its logarithms are added, so that
// nothing of size p_k is lost next to 1. Relative errors stay below 1e-12.
func ConstantSteps(t, delta float64, n int) Plan {
	eta := (t - delta) / float64(n)
	shrink, shift := math.Exp(-eta), math.Expm1(-eta)
	var logStay, same estimate.Sum
	for from := 0; from < n; from += resync {
		// θ counted from the end is exact where it is small.
		x := math.Expm1(delta + float64(n-from)*eta)
		stay := math.Exp(logStay.Value())
		gone, squares := 0.0, 0.0
		for range min(resync, n-from) {
			p := eta / x
			w := p * (1 - gone)
			gone += w
			squares += w * w
			x = x*shrink + shift
		}
		logStay.Add(math.Log1p(-gone))
		same.Add(stay * stay * squares)
	}
	return Plan{Left: math.Exp(logStay.Value()), SameStep: same.Value()}
}
