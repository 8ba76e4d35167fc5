package likelihood

import "math"

// The terms of public implementations' losses, one masked position each; losses are
// sums over the masked positions of a canvas. sigma is −log α, dsigma its derivative
// in the schedule's own time, logMu is log μ of the true token.

// TimeWeight is σ'/(e^σ−1), what −log μ is weighted with in continuous time: MDLM's
// loss (_forward_pass_diffusion, SUBS) and RADD's t_DSE. For the log-linear schedule
// it is 1/t.
func TimeWeight(sigma, dsigma float64) float64 { return dsigma / math.Expm1(sigma) }

// CrossEntropyTerm is −log μ + log(e^σ−1): with [TimeWeight] before it RADD's t_DCE. What
// it adds to −log μ has expectation 0 over t only.
func CrossEntropyTerm(logMu, sigma float64) float64 { return -logMu + math.Log(math.Expm1(sigma)) }

// ScoreEntropyTerm is SEDD's score entropy of a position (graph_lib.Absorbing), of
// the scores s = r·μ as the network gives them, r = 1/(e^σ−1):
//
//	Σ_{a≠MASK} s_a − r·log s_{x0} + r·(log r − 1).
//
// logMu is the log-probability after normalisation and logMass the logarithm of
// what was divided by. SEDD's loss is σ' times it.
func ScoreEntropyTerm(logMu, logMass, sigma float64) float64 {
	r := 1 / math.Expm1(sigma)
	logR := -math.Log(math.Expm1(sigma))
	return scoreLoss(math.Exp(logR+logMass), logR+logMu+logMass, r, logR)
}
