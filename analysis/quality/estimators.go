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

// Terms are [Shortfall] or [LogRatio] of costs −log Q and −log P of samples of Q: their mean
// estimates TV(Q,P), where Q leaves no masks, or KL(Q‖P) in nats, without bias. A LogRatio is
// +Inf where P excludes the sample.
func Terms(q, p []float64, term func(q, p float64) float64) []float64 {
	out := make([]float64, len(q))
	for i := range q {
		out[i] = term(q[i], p[i])
	}
	return out
}
