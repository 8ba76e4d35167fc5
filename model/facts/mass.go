package facts

import "math"

// LogMass returns the logarithm of the mass c = Σ_a s(a)/r of a row, given norm = log Σ e^x over
// its clean tokens and θ = −log α of the call. r = α/(1−α) = 1/(e^θ−1) is the mass of exact scores.
// The result is 0 for a network whose rows are logits, which are normalised by construction. If the
// rows omit log r, see ScaleBySigma, the mass does not depend on θ.
func (f Facts) LogMass(norm, theta float64) float64 {
	switch {
	case f.Output != LogScore:
		return 0
	case f.ScaleBySigma:
		return norm - math.Log(float64(f.Columns-1))
	}
	return norm + math.Log(math.Expm1(theta))
}
