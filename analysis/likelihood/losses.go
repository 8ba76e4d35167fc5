package likelihood

import "math"

// Terms of public implementations' losses for one masked position; a loss is the sum over the
// masked positions of a canvas. sigma is −log α, logMu is log μ of the true token.

// ScoreEntropyTerm returns SEDD's score entropy of a position (graph_lib.Absorbing), for the
// network's unnormalised scores s = r·μ, r = 1/(e^σ−1):
//
//	Σ_{a≠MASK} s_a − r·log s_{x0} + r·(log r − 1).
//
// logMu is the log-probability after normalisation and logMass the logarithm of the normaliser.
// SEDD's loss is σ' times this term.
func ScoreEntropyTerm(logMu, logMass, sigma float64) float64 {
	r := 1 / math.Expm1(sigma)
	logR := -math.Log(math.Expm1(sigma))
	return scoreLoss(math.Exp(logR+logMass), logR+logMu+logMass, r, logR)
}
