package schedule

import "math"

// LogApart returns log p*, where p* is the probability that each of d positions is revealed by a
// network call of its own:
//
//	p* = d!·e_d(w_1,…,w_N)           if masks stay,
//	p* = d!·e_d(w_1,…,w_N, p_M)      if a last call fills the rest (denoised),
//
// with w_k = Reveal[k], p_M = Left(), and e_d the elementary symmetric polynomial. Given that event,
// and a denoiser that does not depend on time, positions are revealed one by one in uniform order,
// as by the first-hitting sampler. It is −Inf if there are fewer calls than positions. It takes
// O(Nd) time.
func (s Steps) LogApart(d int, denoised bool) float64 {
	calls := make([]float64, 0, len(s.Reveal)+1)
	for _, w := range s.Reveal {
		if w > 0 {
			calls = append(calls, w)
		}
	}
	if denoised && s.Left() > 0 {
		calls = append(calls, s.Left())
	}
	if p := apart(d, calls)[d]; p > 1e-280 {
		return math.Log(p)
	}
	return logApart(d, calls)
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
	sum, lost := logFactorial(d)-float64(d)*high, 0.0 // lost are the rounding errors of sum
	for _, p := range w {
		odds := math.Exp(high + math.Log(p))
		q := odds / (1 + odds)
		next := math.Log1p(odds) - lost
		lost, sum = (sum+next-sum)-next, sum+next
		for j := d; j > 0; j-- {
			chance[j] = chance[j]*(1-q) + chance[j-1]*q
		}
		chance[0] *= 1 - q
	}
	return sum + math.Log(chance[d])
}

func logFactorial(n int) float64 {
	out, _ := math.Lgamma(float64(n) + 1)
	return out
}
