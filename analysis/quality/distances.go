package quality

import (
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
)

// Distance names a distance between P_N and P_FHS.
type Distance string

// The distances.
const (
	// TV is the total variation distance, a probability: the mean of (1−P_N/P_FHS)_+ over texts of
	// first-hitting. It is valid if the sampler leaves masks; first-hitting leaves none.
	TV Distance = "tv"
	// KL is KL(P_FHS‖P_N) in nats: the mean of log(P_FHS/P_N), +Inf if the sampler excludes a text.
	// Its interval is that of [estimate.Skewed], which misses rare texts far apart: of 200 texts of markov3-exact, 91 %
	// hold the truth. r − 1, r = P_N/P_FHS, has a known mean but is no
	// useful control variate: if r has a heavy tail, the samples miss the texts in the tail, and
	// 95 % intervals covered only 6 to 88 % in tests.
	KL Distance = "kl"
)

// terms returns one number per sample, whose mean estimates the distance of sampler i.
func (st *Study) terms(what Distance, i int) []float64 {
	q, p := st.costs(i)
	if what == TV {
		return Terms(q, p, Shortfall)
	}
	return Terms(q, p, LogRatio)
}

// costs returns −log P_FHS and −log P of sampler i.
func (st *Study) costs(i int) (q, p []float64) {
	q, p = make([]float64, len(st.Samples)), make([]float64, len(st.Samples))
	for j, s := range st.Samples {
		q[j], p[j] = s.FHS, float64(s.NegLog[i])
	}
	return q, p
}

// Distance estimates a distance of sampler i from first-hitting, which is at most the collision bound.
func (st *Study) Distance(what Distance, i int) estimate.Estimate {
	most, ok := st.Bound(what, i)
	switch terms := st.terms(what, i); {
	case what == TV && !ok:
		return estimate.Bounded(terms, 0, 1, st.Confidence)
	case what == TV:
		return estimate.Bounded(terms, 0, most, st.Confidence)
	case !ok:
		most = math.Inf(1)
	}
	e := estimate.Skewed(st.terms(KL, i), st.Confidence).Within(0, most)
	if !st.FullSupport {
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
	q, p := st.costs(i)
	for j := range q {
		q[j] = math.Exp(-LogRatio(q[j], p[j]))
	}
	return estimate.Skewed(q, st.Confidence).Within(0, math.Inf(1))
}

// Bound returns the collision bound on a distance of sampler i, false if there is none.
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
