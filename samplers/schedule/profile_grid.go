package schedule

import "math"

// lattice is the number of masked fractions from which [BestGrid] chooses, for grids of up to
// latticeSteps steps; longer grids have proportionally more. Above maxGridSteps BestGrid does not
// search the lattice, since the √-rule is as good.
const (
	lattice      = 400
	latticeSteps = 40
	maxGridSteps = 400
)

// CountLaw returns the law of the number of visible positions among the d−1 others of d positions,
// each masked with probability λ in [0,1]: p[j] = Binom(d−1, 1−λ)(j), j in 0..d−1.
func CountLaw(d int, lambda float64) []float64 {
	out := make([]float64, d)
	n := d - 1
	if lambda == 0 || lambda == 1 {
		out[int(1-lambda)*n] = 1
		return out
	}
	// From the most probable count outwards, by ratios of neighbouring probabilities: none
	// overflows, and those that underflow are negligible.
	masked, visible := lambda, 1-lambda
	mode := min(int(float64(d)*visible), n)
	out[mode] = 1
	sum := 1.0
	for j := mode + 1; j <= n && out[j-1] > 0; j++ {
		out[j] = out[j-1] * (float64(n-j+1) / float64(j) * (visible / masked))
		sum += out[j]
	}
	for j := mode - 1; j >= 0 && out[j+1] > 0; j-- {
		out[j] = out[j+1] * (float64(j+1) / float64(n-j) * (masked / visible))
		sum += out[j]
	}
	for j := range out {
		out[j] /= sum
	}
	return out
}

// LossCurve returns f(λ) = Σ_j Binom(d−1, 1−λ)(j)·c[j], d = len(c), in nats: the loss at a masked
// position if each of the others is masked with probability λ in [0,1]. It is c[d−1] at 0 and c[0]
// at 1, and d·∫f dλ = Σ_j c[j].
func LossCurve(c []float64, lambda float64) float64 {
	var sum float64
	for j, p := range CountLaw(len(c), lambda) {
		if p > 0 {
			sum += p * c[j]
		}
	}
	return sum
}

// lossCurves returns the values of [LossCurve] at 1, 1−1/points, …, 0.
func lossCurves(c []float64, points int) []float64 {
	out := make([]float64, points+1)
	for i := range out {
		out[i] = LossCurve(c, float64(points-i)/float64(points))
	}
	return out
}

// BestGrid returns the masked fractions of a grid of at most n steps from 1 to 0 with the least cost
//
//	d·Σ_k (λ_k−λ_{k+1})·f(λ_k), d = len(c), f of [LossCurve],
//
// the expected path loss of Tweedie on the grid, in nats. For a time-conditioned network it is the
// cost only as far as its rows do not depend on the time. The fractions lie on the lattice i/400,
// or on a finer one for more than 40 steps. If c is non-increasing there are n steps. Above 400
// steps the grid follows the √-rule: steps in proportion to 1/√(−f′), which the optimum approaches.
func BestGrid(c []float64, n int) []float64 {
	if n > maxGridSteps {
		return rootGrid(c, n)
	}
	return bestGrid(c, n, lattice*((n+latticeSteps-1)/latticeSteps))
}

// bestGrid chooses from the fractions i/points.
func bestGrid(c []float64, n, points int) []float64 {
	// At λ = 1 − i/points i of points are revealed: the problem is the same as for sizes.
	f := lossCurves(c, points)[:points]
	if falls(c) {
		// So is f. Keep rounding from making it increase.
		f = Monotone(f, nil)
	}
	lambda := []float64{1}
	left := points
	for _, n := range partition(f, n) {
		left -= n
		lambda = append(lambda, float64(left)/float64(points))
	}
	return lambda
}

// rootGrid gives each step an equal share of ∫√(−dc).
func rootGrid(c []float64, n int) []float64 {
	const points = 1 << 14
	share, f := make([]float64, points+1), lossCurves(c, points)
	for i := 1; i <= points; i++ {
		// On a flat part of the curve the steps would be infinite: the small constant bounds them.
		share[i] = share[i-1] + math.Sqrt(max(f[i-1]-f[i], 0)) + (1e-3*math.Sqrt(math.Abs(c[0]))+1e-9)/points
	}
	lambda := make([]float64, n+1)
	lambda[0] = 1
	i := 0
	for k := 1; k < n; k++ {
		want := share[points] * float64(k) / float64(n)
		for share[i+1] < want {
			i++
		}
		inside := (want - share[i]) / (share[i+1] - share[i])
		lambda[k] = 1 - (float64(i)+inside)/points
	}
	return lambda
}
