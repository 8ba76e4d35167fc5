package quality

import "math"

// Shortfall is (1 − P/Q)_+ of two costs q = −log Q and p = −log P: its mean under Q is the
// total variation distance of Q and P, if Q leaves no masks; P may.
func Shortfall(q, p float64) float64 {
	if math.IsInf(p, 1) {
		return 1
	}
	return max(0, -math.Expm1(q-p))
}

// LogRatio is log(Q/P) of two costs, 0 where both are infinite.
func LogRatio(q, p float64) float64 {
	if p == q {
		return 0
	}
	return p - q
}

// VariationTerms returns (1−P/Q)_+ of costs −log Q and −log P of samples of Q, a law that
// leaves no masks: their mean estimates TV(Q,P) without bias. They are in 0..1.
func VariationTerms(q, p []float64) []float64 {
	return pairs(q, p, Shortfall)
}

// DivergenceTerms returns log(Q/P): their mean estimates KL(Q‖P) in nats without bias. A
// term is +Inf where P excludes the sample.
func DivergenceTerms(q, p []float64) []float64 {
	return pairs(q, p, LogRatio)
}

func pairs(q, p []float64, term func(q, p float64) float64) []float64 {
	out := make([]float64, len(q))
	for i := range q {
		out[i] = term(q[i], p[i])
	}
	return out
}
