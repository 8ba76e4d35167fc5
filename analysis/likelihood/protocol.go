package likelihood

import "math"

// The protocols reproduce the estimators of public implementations, including their omissions and
// cut-offs, so that results can be compared with published numbers.

const (
	// protocolEpsilon is sampling_eps of MDLM, RADD and SEDD and the ε of their
	// log-linear schedule.
	protocolEpsilon = 1e-3
	// lladaBatch is the batch over which LLaDA spreads its counts (get_log_likelihood).
	lladaBatch = 16
)

// mdlm appends a draw of MDLM's loss at u: t = (1−ε)u+ε, masked with probability (1−ε)t, Σ −log μ /
// t. Its mean is (1/(1−ε))·∫ (1/λ)E_λ Σ dλ over λ from (1−ε)ε to 1−ε, which differs from the NELBO
// by 0.1 % and the ends. u is stratified over the draws of a window; MDLM stratifies it over a
// batch.
func (d *drawer) mdlm(u float64) {
	t := (1-protocolEpsilon)*u + protocolEpsilon
	d.independent((1-protocolEpsilon)*t, 1/t, crossEntropy)
}

// sedd appends a draw of SEDD's loss at u: t as in mdlm, independent draws, and σ' times the score
// entropy of the network's unnormalised scores.
func (d *drawer) sedd(u float64) {
	t := (1-protocolEpsilon)*u + protocolEpsilon
	lambda := (1 - protocolEpsilon) * t
	sigma := -math.Log1p(-lambda)
	d.independent(lambda, (1-protocolEpsilon)/(1-lambda), func(logMu, logMass float64) float64 {
		return ScoreEntropyTerm(logMu, logMass, sigma)
	})
	// The price has the weight of −log μ, 1/t, not σ'.
	s := &d.samples[len(d.samples)-1]
	value := s.price
	s.price = func(asks []Ask) float64 { return value(asks) * (1 - lambda) / lambda }
}

// llada draws counts in batches of b as LLaDA does: k uniform on 1..d, then the counts
// round(k + j·d/b) wrapped into 1..d. It masks that many positions and sums −log μ / (count/d).
func (d *drawer) llada(n int) {
	l := len(d.free)
	for from := 0; from < n; from += lladaBatch {
		b := min(lladaBatch, n-from)
		k := 1 + min(int(d.stream.Float64()*float64(l)), l-1)
		for j := range b {
			count := int(math.RoundToEven(float64(k) + float64(j)*float64(l)/float64(b)))
			count = (count-1)%l + 1
			masked, lambda := d.smallest(count)
			d.add(masked, lambda, float64(l)/float64(count), crossEntropy)
		}
	}
}
