package world

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"mdmgen/internal/expsum"
)

// Weights holds the weights of μ0 and μ1 at a masked fraction λ: 1−cλ^p and cλ^p.
type Weights struct{ c, p, lambda, w0, w1 float64 }

// WeightsAt computes the weights without cancellation, for c and λ in 0..1 and p ≥ 0.
func WeightsAt(c, p, lambda float64) Weights {
	w := Weights{c, p, lambda, 0, c * math.Pow(lambda, p)}
	if w.w0 = 1 - w.w1; w.w0 < 0.5 {
		w.w0 = 1 - c - c*math.Expm1(w.logPower())
	}
	return w
}

func (w Weights) logPower() float64 {
	if w.p == 0 {
		return 0 // even if λ is 0
	}
	return w.p * math.Log(w.lambda)
}

// minProduct bounds the sums of two products that keep all digits even if one product underflows.
const minProduct = 0x1p-960

// Mix returns the mixture of two probabilities.
func (w Weights) Mix(mu0, mu1 float64) float64 { return w.w0*mu0 + w.w1*mu1 }

// LogMix returns the logarithm of the mixture, in nats. It is finite even if λ^p, 1−λ^p or the
// mixture is too small for a float64, and −Inf only if the mixture is 0.
func (w Weights) LogMix(mu0, mu1 float64) float64 {
	if mu := w.Mix(mu0, mu1); mu >= minProduct {
		return math.Log(mu)
	}
	log0 := math.Log(w.w0)
	if w.w0 < minProduct { // c is 1, and 1−λ^p is −p·log λ
		log0 = expsum.Log(w.p, 0) + math.Log(-math.Log(w.lambda))
	}
	return floats.LogSumExp([]float64{log0 + expsum.Log(mu0, 0), math.Log(w.c) + w.logPower() + expsum.Log(mu1, 0)})
}
