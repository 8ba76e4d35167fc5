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

// Controlled returns y with what a control tells taken off: terms y − β(x − mean), where
// mean is the known expectation of x. For terms i, β is the regression coefficient of y on x
// over the samples of the other parity, so that it is independent of them and the mean of
// the terms has the expectation of y exactly. β is kept in lo..hi. Where a half tells no
// coefficient, β is 0 for the other.
func Controlled(y, x []float64, mean, lo, hi float64) []float64 {
	out := make([]float64, len(y))
	for half := range 2 {
		beta := coefficient(y, x, 1-half, lo, hi)
		for i := half; i < len(y); i += 2 {
			out[i] = y[i]
			if beta != 0 && !math.IsInf(y[i], 0) {
				out[i] -= beta * (x[i] - mean)
			}
		}
	}
	return out
}

// coefficient is that of the regression of y on x over every second sample from from.
func coefficient(y, x []float64, from int, lo, hi float64) float64 {
	var n, meanX, meanY float64
	for i := from; i < len(y); i += 2 {
		if math.IsInf(y[i], 0) {
			return 0
		}
		n++
		meanX += x[i]
		meanY += y[i]
	}
	meanX, meanY = meanX/n, meanY/n
	var top, bottom float64
	for i := from; i < len(y); i += 2 {
		top += (x[i] - meanX) * (y[i] - meanY)
		bottom += (x[i] - meanX) * (x[i] - meanX)
	}
	if !(n >= 2 && bottom > 0) {
		return 0
	}
	return min(max(top/bottom, lo), hi)
}

// VariationTerms returns terms whose mean estimates TV(Q,P) without bias, from costs −log Q
// and −log P of samples of Q. They are (1−r)_+, r = P/Q, and, where fullSupport says that
// Q gives every clean sequence a positive probability, with 1 − r as a control, whose
// expectation 1 − mass is known: mass is the probability that P leaves no mask.
func VariationTerms(q, p []float64, mass float64, fullSupport bool) []float64 {
	y, x := make([]float64, len(q)), make([]float64, len(q))
	for i := range q {
		y[i] = Shortfall(q[i], p[i])
		x[i] = -math.Expm1(-LogRatio(q[i], p[i]))
	}
	if !fullSupport {
		return y
	}
	return Controlled(y, x, 1-mass, 0, 1) // in 0..1 no term is negative
}

// DivergenceTerms returns terms whose mean estimates KL(Q‖P) without bias, in nats: −log r,
// with r − 1 as a control as in [VariationTerms]. Near r = 1 the control takes off what
// varies in first order, β = 1 there,
//
//	KL = E[r − 1 − log r] + 1 − mass,
//
// and where the laws are far apart and r has a heavy tail, β is small by itself. A term is
// +Inf where P excludes the sample.
func DivergenceTerms(q, p []float64, mass float64, fullSupport bool) []float64 {
	y, x := make([]float64, len(q)), make([]float64, len(q))
	for i := range q {
		y[i] = LogRatio(q[i], p[i])
		x[i] = -math.Expm1(-y[i])
	}
	if !fullSupport {
		return y
	}
	return Controlled(y, x, 1-mass, 0, math.Inf(1))
}

// LeastSquares is the slope of the line of least squares.
func LeastSquares(x, y []float64) float64 {
	var sum float64
	for i, c := range slopeWeights(x) {
		sum += c * y[i]
	}
	return sum
}

// slopeWeights are the weights of y in the slope of the line of least squares.
func slopeWeights(x []float64) []float64 {
	var mean, bottom float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		bottom += (v - mean) * (v - mean)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v - mean) / bottom
	}
	return out
}
