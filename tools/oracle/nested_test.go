package oracle

import "math"

// NestedCodes are d tokens that each carry one symbol of each of the MDS codes [d,1],…,[d,d−1] over
// q symbols: any two masked positions are dependent, whatever is visible. They show that Euler's
// error can exceed the frozen right side of Theorem 1, which has no factor of the vocabulary.
type NestedCodes struct{ D, Q int }

// LogV returns the logarithm of the number of tokens, (d−1)·log q.
func (c NestedCodes) LogV() float64 { return float64(c.D-1) * math.Log(float64(c.Q)) }

// EulerLowerBound returns (1−1/q)·P(some step reveals two), and that probability: two tokens
// revealed together disagree in some code with probability at least 1−1/q.
func (c NestedCodes) EulerLowerBound(reveal []float64, left float64) (bound, chance float64) {
	chance = collision(c.D, reveal, left)
	return (1 - 1/float64(c.Q)) * chance, chance
}

// AncestralPairs returns, for the N-step ancestral sampler on λ_k = 1−k/N and d/2 pairs of equal
// tokens, TV(q0,·), KL(q0‖·) and the expected number of non-empty steps.
func AncestralPairs(d, v, n int) (tv, kl, calls float64) {
	miss := math.Log1p(-(1 - 1/float64(v)) / float64(n))
	kl = -float64(d/2) * miss
	return -math.Expm1(-kl), kl, float64(n) * -math.Expm1(float64(d)*math.Log1p(-1/float64(n)))
}
