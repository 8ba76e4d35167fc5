package laws

import (
	"math"
	"slices"
)

// HittingFill is extrapolation with the hitting times themselves, after Algorithm 3 of Zheng et al., arXiv
// 2409.02908: a token revealed at τ in a block whose first hit is s_n, after one whose first hit is s_{n−1}, has w
// = (s_n − τ)/(s_{n−1} − s_n), floor 0. The second token of a block after one of L tokens has w = Exp(1)/Gamma(L), density
//
//	L(1+w)^(−L−1),
//
// over which the fill is averaged. Other tokens' weights depend on this one's, so that
// it is false for sizes with more than one token to extrapolate.
func HittingFill(sizes []int) (Fill, bool) {
	extrapolated := 0
	for _, n := range sizes[1:] {
		extrapolated += n - 1
	}
	if extrapolated > 1 {
		return nil, false
	}
	return func(now, before []float64, token, block, i int) float64 {
		if before == nil || i == 0 {
			return now[token]
		}
		return hittingMean(now, before, token, sizes[block-1])
	}, true
}

// hittingMean is ∫ L(1+w)^(−L−1)·max(p+w(p−p′),0)_token/Σ max(…) dw. In v = 1/(1+w), which is in (0,1) with density
// L·v^(L−1), the terms are max(p′(v−1) + p, 0), up to a factor v that cancels: linear, with a kink
// each, and the integral between kinks is of a smooth ratio.
func hittingMean(p, before []float64, token, size int) float64 {
	kinks := []float64{0, 1}
	for a := range p {
		if v := 1 - p[a]/before[a]; v > 0 && v < 1 {
			kinks = append(kinks, v)
		}
	}
	slices.Sort(kinks)
	term := func(a int, v float64) float64 { return max(p[a]-before[a]*(1-v), 0) }
	return overUnit.integral(func(at, _ float64) float64 {
		var s Sum
		for i := 1; i < len(kinks); i++ {
			low, width := kinks[i-1], kinks[i]-kinks[i-1]
			v := low + width*at
			total := 0.0
			for a := range p {
				total += term(a, v)
			}
			if total > 0 {
				s.Add(width * float64(size) * math.Pow(v, float64(size-1)) * term(token, v) / total)
			}
		}
		return s.Value()
	})
}
