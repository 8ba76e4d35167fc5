package theory

import "math"

// SingleBlocks is p*, the probability that no network call of a grid sampler reveals
// two of d positions, each of which is revealed in step k with probability reveal[k] and left
// masked with the rest, left:
//
//	p* = d!·e_d(w_1,…,w_N, p_M)   with a last call that fills what is left,
//	p* = Σ_j C(d,j)·p_M^j·(d−j)!·e_{d−j}(w_1,…,w_N)   where it stays masked,
//
// e_d the elementary symmetric polynomials. Given that, and a denoiser that does not
// depend on time, what the plan reveals is revealed in uniform order one by one: with
// the last call the sampler's law is P_FHS's, hence for every sequence x and any denoiser
//
//	P_N(x) ≥ p*·P_FHS(x),  TV(P_FHS,P_N) ≤ 1 − p*,  KL(P_FHS‖P_N) ≤ −log p*.
//
// Without it the full reveal has to happen in the N steps: see [CollisionBound]. It
// takes O(Nd) and O(d) memory, and works on e_j·j! so that nothing over- or underflows.
func SingleBlocks(d int, reveal []float64, left float64, denoised bool) float64 {
	w := reveal
	if denoised {
		w = append(append([]float64(nil), reveal...), left)
	}
	e := orderedHits(d, w)
	if denoised {
		return e[d]
	}
	// e[j] is j!·e_j, the chance that j given positions are revealed apart.
	var sum float64
	for j := range d + 1 {
		sum += math.Exp(logFactorial(d)-logFactorial(j)-logFactorial(d-j)+power(j, left)) * e[d-j]
	}
	return sum
}

// CollisionBound is p* of a sampler against P_FHS on sequences without MASK: the
// probability that all d positions are revealed by calls of their own.
func CollisionBound(d int, reveal []float64, left float64, denoised bool) float64 {
	if denoised {
		return SingleBlocks(d, reveal, left, true)
	}
	return orderedHits(d, reveal)[d]
}

// orderedHits returns j!·e_j(w) for j = 0..d: the probability that j given positions have
// steps of their own, each step w at most 1 in sum.
func orderedHits(d int, w []float64) []float64 {
	e := make([]float64, d+1)
	e[0] = 1
	for _, p := range w {
		if p == 0 {
			continue
		}
		for j := d; j > 0; j-- {
			e[j] += float64(j) * p * e[j-1]
		}
	}
	return e
}
