package quality

import (
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
)

// Distance is a distance between the law P_FHS of first-hitting and the law P_N of a sampler, as a mean
// over texts of first-hitting.
type Distance struct {
	Name, Of, Unit string
	// Term returns the summand of a text, without bias, from −log P_FHS and −log P_N. Mean estimates the
	// distance from all, given what it is at most.
	Term func(fhs, cost float64) float64
	Mean func(terms []float64, most, confidence float64) estimate.Estimate
	// Bound returns the collision bound on the distance, and on each term, from log p*.
	Bound func(apart float64) float64
	// Rate is the exponent of the paper's rate in N, 0 for none.
	Rate float64
}

// The distances.
var (
	// TV is the total variation distance: the mean of (1−P_N/P_FHS)_+. It is valid if the sampler leaves
	// masks; first-hitting leaves none.
	TV = Distance{"tv", "TV(P_FHS, P_N)", "probability", Shortfall, func(terms []float64, most, confidence float64) estimate.Estimate {
		return estimate.Bounded(terms, 0, most, confidence)
	}, func(apart float64) float64 { return -math.Expm1(apart) }, -1}
	// KL is KL(P_FHS‖P_N): the mean of log(P_FHS/P_N), +Inf if the sampler excludes a text.
	// Its interval is that of [estimate.Skewed], which misses rare texts far apart: of 200 texts of markov3-exact, 91 %
	// hold the truth. r − 1, r = P_N/P_FHS, has a known mean but is no
	// useful control variate: if r has a heavy tail, the samples miss the texts in the tail, and
	// 95 % intervals covered only 6 to 88 % in tests.
	KL = Distance{"kl", "KL(P_FHS‖P_N)", "nats", LogRatio, func(terms []float64, most, confidence float64) estimate.Estimate {
		return estimate.Skewed(terms, confidence).Within(0, most)
	}, func(apart float64) float64 { return -apart }, 0}
	Distances = []Distance{TV, KL}
)

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

// terms returns a function of −log P_FHS and −log P of sampler i for each sample.
func (st *Study) terms(i int, term func(fhs, cost float64) float64) []float64 {
	out := make([]float64, len(st.Samples))
	for j, s := range st.Samples {
		out[j] = term(s.FHS, float64(s.NegLog[i]))
	}
	return out
}

// Distance estimates a distance of sampler i from first-hitting, which is at most the collision bound.
func (st *Study) Distance(what Distance, i int) estimate.Estimate {
	most, ok := st.Bound(what, i)
	if !ok {
		most = what.Bound(math.Inf(-1))
	}
	e := what.Mean(st.terms(i, what.Term), most, st.Confidence)
	if what.Name == TV.Name || !st.FullSupport {
		return e
	}
	if m := st.Mass(i); st.Clean[i] < m.Lo || st.Clean[i] > m.Hi {
		e.Warnings = append(e.Warnings, fmt.Sprintf("P_N/P_FHS has the mean %.4g over the samples and %.4g in truth: texts are missing, and the interval may be too narrow", m.Mean, st.Clean[i]))
	}
	return e
}

// Mass estimates E[P_N/P_FHS] of sampler i. With full support it equals the probability Clean[i]
// that the sampler leaves no mask: a much lower estimate means that the samples miss texts that are
// likely under the sampler and hardly occur under first-hitting.
func (st *Study) Mass(i int) estimate.Estimate {
	ratios := st.terms(i, func(fhs, cost float64) float64 { return math.Exp(-LogRatio(fhs, cost)) })
	return estimate.Skewed(ratios, st.Confidence).Within(0, math.Inf(1))
}

// Bound returns the collision bound on a distance of sampler i, false if there is none.
func (st *Study) Bound(what Distance, i int) (float64, bool) {
	bound := what.Bound(st.Apart[i])
	return bound, !math.IsNaN(bound) && !math.IsInf(bound, 1)
}
