package facts

import "math"

// LogMass is the logarithm of the mass c = Σ_a s(a)/r of a row, given norm = log Σ e^x over
// its clean tokens and the θ = −log α that it was asked at, r = α/(1−α) = 1/(e^θ−1) being the
// rate that the mass of exact scores is. It is 0 for a network whose rows are logits, which
// are normalised by construction. Rows that leave out log r, see ScaleBySigma, have
// the same mass at any θ.
func (f Facts) LogMass(norm, theta float64) float64 {
	switch {
	case f.Output != LogScore:
		return 0
	case f.ScaleBySigma:
		return norm - math.Log(float64(f.Columns-1))
	}
	return norm + math.Log(math.Expm1(theta))
}
