package samplers

import (
	"fmt"
	"math"
)

// lattice is the number of masked fractions between which [BestGrid] chooses, for grids of
// up to latticeSteps steps; longer ones have proportionally more. Above mostGridSteps the
// lattice is not searched: there the √-rule is as good.
const (
	lattice       = 400
	latticeSteps  = 40
	mostGridSteps = 400
)

// LossCurve returns f(λ) = Σ_j Binom(d−1, 1−λ)(j)·c[j], d = len(c), in nats: the loss at a
// masked position when each of the others is masked with probability λ in [0,1]. It is
// c[d−1] at 0 and c[0] at 1, and d·∫f dλ = Σ_j c[j].
func LossCurve(c []float64, lambda float64) float64 {
	if len(c) == 0 || !(lambda >= 0 && lambda <= 1) {
		panic(fmt.Sprintf("samplers: loss at the masked fraction %v of %d positions", lambda, len(c)))
	}
	n := len(c) - 1
	switch {
	case lambda == 0:
		return c[n]
	case lambda == 1:
		return c[0]
	}
	// From the most probable count outwards, by ratios of neighbouring probabilities: none
	// overflows, and those that underflow do not count.
	masked, visible := lambda, 1-lambda
	mode := min(int(float64(n+1)*visible), n)
	sum, mass := c[mode], 1.0
	for j, p := mode+1, 1.0; j <= n && p > 0; j++ {
		p *= float64(n-j+1) / float64(j) * (visible / masked)
		sum, mass = sum+p*c[j], mass+p
	}
	for j, p := mode-1, 1.0; j >= 0 && p > 0; j-- {
		p *= float64(j+1) / float64(n-j) * (masked / visible)
		sum, mass = sum+p*c[j], mass+p
	}
	return sum / mass
}

// GridCost returns d·Σ_k (λ_k−λ_{k+1})·f(λ_k), d = len(c), f of [LossCurve]: the expected
// path loss in nats of Tweedie on the masked fractions lambda, which fall from 1 to 0. It
// panics where they do not. For a network that is asked with the time it is the cost only
// as far as its rows do not depend on the time.
func GridCost(c, lambda []float64) float64 {
	n := len(lambda) - 1
	if n < 1 || lambda[0] != 1 || lambda[n] != 0 {
		panic(fmt.Sprintf("samplers: masked fractions %v do not fall from 1 to 0", lambda))
	}
	var sum float64
	for k, v := range lambda[:n] {
		if !(lambda[k+1] < v) {
			panic(fmt.Sprintf("samplers: masked fractions %v do not fall from 1 to 0", lambda))
		}
		sum += (v - lambda[k+1]) * LossCurve(c, v)
	}
	return float64(len(c)) * sum
}

// BestGrid returns the masked fractions of a grid of at most n steps from 1 to 0 whose
// [GridCost] is least, and that cost in nats. They lie on the lattice i/400, on a finer one
// for more than 40 steps. Where c does not increase there are n steps. It panics as
// [BestSizes] does. Above 400 steps the grid is that of the √-rule: steps in proportion to
// 1/√(−f′), which the optimum approaches.
func BestGrid(c []float64, n int) (lambda []float64, cost float64) {
	if len(c) == 0 || n < 1 {
		panic(fmt.Sprintf("samplers: a grid of %d steps for %d positions", n, len(c)))
	}
	if n > mostGridSteps {
		lambda = rootGrid(c, n)
	} else {
		lambda = bestGrid(c, n, lattice*((n+latticeSteps-1)/latticeSteps))
	}
	return lambda, GridCost(c, lambda)
}

// bestGrid chooses among i/points.
func bestGrid(c []float64, n, points int) []float64 {
	// What f is at λ = 1 − i/points, i of points are revealed: the sizes' problem again.
	f := make([]float64, points)
	for i := range f {
		f[i] = LossCurve(c, float64(points-i)/float64(points))
	}
	if falls(c) {
		// So does f. Keep rounding from making it rise.
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

// rootGrid has equal shares of ∫√(−dc) in its steps.
func rootGrid(c []float64, n int) []float64 {
	const points = 1 << 14
	share := make([]float64, points+1)
	last := LossCurve(c, 1)
	for i := 1; i <= points; i++ {
		f := LossCurve(c, float64(points-i)/points)
		// Where the curve is flat the steps would be endless: the small constant bounds them.
		share[i] = share[i-1] + math.Sqrt(max(last-f, 0)) + (1e-3*math.Sqrt(math.Abs(c[0]))+1e-9)/points
		last = f
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

// RootRule returns (Σ_j √(c[j]−c[j+1]))²/2n in nats: the excess of the best n blocks as n
// and d/n grow, where c falls; where it rises it counts nothing (Lavenant and Zanella,
// arXiv 2510.25544).
func RootRule(c []float64, n int) float64 {
	var root float64
	for j := 1; j < len(c); j++ {
		root += math.Sqrt(max(c[j-1]-c[j], 0))
	}
	return root * root / (2 * float64(n))
}
