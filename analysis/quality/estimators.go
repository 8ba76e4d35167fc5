package quality

import "math"

// Shortfall returns (1 − P/Q)_+ from the costs q = −log Q and p = −log P. Its mean under Q is the
// total variation distance of Q and P, if Q leaves no masks; P may.
func Shortfall(q, p float64) float64 {
	if math.IsInf(p, 1) {
		return 1
	}
	return max(0, -math.Expm1(q-p))
}

// LogRatio returns log(Q/P) from two costs, 0 if both are infinite.
func LogRatio(q, p float64) float64 {
	if p == q {
		return 0
	}
	return p - q
}

// Terms returns [Shortfall] or [LogRatio] of the costs −log Q and −log P of samples of Q. The mean
// estimates TV(Q,P), if Q leaves no masks, or KL(Q‖P) in nats, without bias. A LogRatio is +Inf if
// P excludes the sample.
func Terms(q, p []float64, term func(q, p float64) float64) []float64 {
	out := make([]float64, len(q))
	for i := range q {
		out[i] = term(q[i], p[i])
	}
	return out
}
