package theory

import (
	"math"

	"mdmgen/analysis/estimate"
)

// LogCollisionBound returns log p*, where p* is the probability that each of d positions is
// revealed by a network call of its own, for a grid sampler that reveals a position in step k with
// probability reveal[k] and leaves it masked with probability left:
//
//	p* = d!·e_d(w_1,…,w_N)           if masks stay,
//	p* = d!·e_d(w_1,…,w_N, p_M)      if a last call fills the rest (denoised),
//
// with e_d the elementary symmetric polynomial. Given that event, and a denoiser that does not
// depend on time, positions are revealed one by one in uniform order, as by the first-hitting
// sampler. So for every denoiser, every d and every sequence x
//
//	P_N(x) ≥ p*·P_FHS(x),  TV(P_FHS,P_N) ≤ 1 − p*,  KL(P_FHS‖P_N) ≤ −log p*,
//
// without a network call. It is −Inf if there are fewer calls than positions. It takes O(Nd) time.
// left is ignored if masks stay.
func LogCollisionBound(d int, reveal []float64, left float64, denoised bool) float64 {
	w := calls(reveal, left, denoised)
	if p := apart(d, w)[d]; p > 1e-280 {
		return math.Log(p)
	}
	return logApart(d, w)
}

// calls returns the probabilities of the calls that can reveal a position.
func calls(reveal []float64, left float64, denoised bool) []float64 {
	out := make([]float64, 0, len(reveal)+1)
	for _, w := range reveal {
		if w > 0 {
			out = append(out, w)
		}
	}
	if denoised && left > 0 {
		out = append(out, left)
	}
	return out
}

// apart returns j!·e_j(w) for j = 0..d: the probability that j given positions have calls of their
// own.
func apart(d int, w []float64) []float64 {
	e := make([]float64, d+1)
	e[0] = 1
	for _, p := range w {
		for j := d; j > 0; j-- {
			e[j] += float64(j) * p * e[j-1]
		}
	}
	return e
}

// logApart returns log(d!·e_d(w)) if that is too small for a float64. Weights are tilted: with
// q_k = w_k z/(1+w_k z) and z such that Σ q_k = d,
//
//	e_d(w) = P(d of the independent events with chances q_k)·Π(1+w_k z)/z^d,
//
// and this probability is the mode of its law.
func logApart(d int, w []float64) float64 {
	if len(w) < d {
		return math.Inf(-1)
	}
	if len(w) == d {
		sum := logFactorial(d)
		for _, p := range w {
			sum += math.Log(p)
		}
		return sum
	}
	events := func(logZ float64) float64 {
		sum := 0.0
		for _, p := range w {
			sum += 1 / (1 + math.Exp(-logZ-math.Log(p)))
		}
		return sum
	}
	low, high := -2000.0, 2000.0 // enough for all weights of a float64
	for range 60 {
		if mid := low + (high-low)/2; events(mid) < float64(d) {
			low = mid
		} else {
			high = mid
		}
	}
	chance := make([]float64, d+1)
	chance[0] = 1
	var sum estimate.Sum
	sum.Add(logFactorial(d) - float64(d)*high)
	for _, p := range w {
		odds := math.Exp(high + math.Log(p))
		q := odds / (1 + odds)
		sum.Add(math.Log1p(odds))
		for j := d; j > 0; j-- {
			chance[j] = chance[j]*(1-q) + chance[j-1]*q
		}
		chance[0] *= 1 - q
	}
	return sum.Value() + math.Log(chance[d])
}

func logFactorial(n int) float64 {
	out, _ := math.Lgamma(float64(n) + 1)
	return out
}
