package quality

import (
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
)

// Distance names a distance of P_N from P_FHS.
type Distance string

// The distances.
const (
	// TV is the total variation distance, a probability: the mean of (1−P_N/P_FHS)_+ over texts
	// of first-hitting. It holds where the sampler leaves masks; first-hitting leaves none.
	TV Distance = "tv"
	// KL is KL(P_FHS‖P_N) in nats: the mean of log(P_FHS/P_N), +Inf where the sampler excludes
	// a text. Its interval is that of [estimate.Skewed]. r − 1, r = P_N/P_FHS, whose mean is
	// known, is no control for it: where r has a heavy tail, the texts that carry it are
	// missing among the samples, and 95 % intervals were found to cover 6 to 88 % of the time.
	KL Distance = "kl"
)

// terms are numbers, one a sample, whose mean estimates the distance of sampler i.
func (st *Study) terms(what Distance, i int) []float64 {
	q, p := st.costs(i)
	if what == TV {
		return VariationTerms(q, p)
	}
	return DivergenceTerms(q, p)
}

// costs are −log P_FHS and −log P of sampler i.
func (st *Study) costs(i int) (q, p []float64) {
	q, p = make([]float64, len(st.Samples)), make([]float64, len(st.Samples))
	for j, s := range st.Samples {
		q[j], p[j] = s.FHS, s.NegLog[i]
	}
	return q, p
}

// estimate is the mean of terms, with what its interval does not know of.
func (st *Study) estimate(what Distance, terms []float64) estimate.Estimate {
	of := estimate.Skewed
	if what == TV {
		of = estimate.Mean
	}
	e := of(terms, st.Confidence)
	var worst float64
	for _, s := range st.Samples {
		worst = max(worst, s.QuadratureError)
	}
	if worst > 0 {
		e.Warnings = append(e.Warnings, fmt.Sprintf("log-probabilities are by quadrature, with an error of up to %.2g nats that the interval does not hold", worst))
	}
	return e
}

// Distance estimates a distance of sampler i from first-hitting.
func (st *Study) Distance(what Distance, i int) estimate.Estimate {
	e := st.estimate(what, st.terms(what, i))
	if what == TV || !st.FullSupport {
		return e
	}
	if m := st.Mass(i); st.Clean[i] < m.Lo || st.Clean[i] > m.Hi {
		e.Warnings = append(e.Warnings, fmt.Sprintf("P_N/P_FHS has the mean %.4g over the samples and %.4g in truth: texts are missing, and the interval may be too narrow", m.Mean, st.Clean[i]))
	}
	return e
}

// Mass estimates E[P_N/P_FHS] of sampler i, which where there is full support is the
// probability Clean[i] that the sampler leaves no mask: an estimate far below says that
// the samples miss texts that the sampler gives and first-hitting hardly does.
func (st *Study) Mass(i int) estimate.Estimate {
	q, p := st.costs(i)
	for j := range q {
		q[j] = math.Exp(-LogRatio(q[j], p[j]))
	}
	return st.estimate(KL, q)
}

// Difference estimates the distance of sampler i minus that of sampler j on the same
// texts, whose interval is narrower than either's where the samplers are alike. A negative
// one says that i is nearer to first-hitting.
func (st *Study) Difference(what Distance, i, j int) estimate.Estimate {
	a, b := st.terms(what, i), st.terms(what, j)
	for k := range a {
		if math.IsInf(a[k], 1) && math.IsInf(b[k], 1) {
			a[k] = math.NaN() // both are infinite, and tell no difference
			continue
		}
		a[k] -= b[k]
	}
	return st.estimate(what, a)
}

// Bound is the collision bound on a distance of sampler i; false where there is none.
func (st *Study) Bound(what Distance, i int) (float64, bool) {
	apart := st.Apart[i]
	if math.IsNaN(apart) {
		return apart, false
	}
	if what == TV {
		return -math.Expm1(apart), true
	}
	return -apart, !math.IsInf(apart, -1)
}

// Slope is a fitted exponent of the number of steps.
type Slope struct {
	// Exponent is the least-squares slope of the logarithm of TV on log N, its
	// interval by a bootstrap over the texts, jointly for all N.
	Exponent estimate.Estimate
	// Bias is what the logarithm of a mean adds to it, −CV²/2n for each N in first order,
	// CV the coefficient of variation of the terms. It is not taken off.
	Bias float64
	// Bound is the slope of the collision bound over the same N, NaN where one has none.
	Bound float64
}

// resamples is how many bootstrap samples the interval of an exponent takes.
const resamples = 1000

// Slope fits the exponent of N in TV over the samplers of a list, which have
// steps[k] steps each. Two give a local exponent. The same seed gives every exponent the
// same resamples. It panics where the lengths differ or there are fewer than two. There
// is none of KL: its terms cancel to a small part of themselves, and no sample of the
// sizes in use tells a rate of what is left.
func (st *Study) Slope(list, steps []int, seed uint64) Slope {
	if len(list) != len(steps) || len(list) < 2 {
		panic(fmt.Sprintf("quality: a slope over %d samplers and %d numbers of steps", len(list), len(steps)))
	}
	terms, logN, bounds := make([][]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	for k, i := range list {
		terms[k], logN[k] = st.terms(TV, i), math.Log(float64(steps[k]))
		b, ok := st.Bound(TV, i)
		if !ok || b <= 0 {
			b = math.NaN()
		}
		bounds[k] = math.Log(b)
	}
	weights := slopeWeights(logN)
	out := Slope{Exponent: BootstrapSlope(terms, logN, seed, st.Confidence), Bound: LeastSquares(logN, bounds)}
	for k, t := range terms {
		e := estimate.Mean(t, st.Confidence)
		cv := e.SE / e.Mean // of the mean: CV/√n
		out.Bias -= weights[k] * cv * cv / 2
	}
	return out
}

// BootstrapSlope is the least-squares slope of the logarithm of means on logN, one mean a
// list of terms: term j of all lists is of the same sample, and samples are drawn again
// jointly.
func BootstrapSlope(terms [][]float64, logN []float64, seed uint64, confidence float64) estimate.Estimate {
	logs := make([]float64, len(terms))
	return estimate.Bootstrap(len(terms[0]), resamples, seed, confidence, func(at []int) float64 {
		for k, t := range terms {
			var sum float64
			for _, j := range at {
				sum += t[j]
			}
			logs[k] = math.Log(sum)
		}
		return LeastSquares(logN, logs)
	})
}
