package oracle

import (
	"cmp"
	"math"
	"slices"
)

// MaxGumbel returns the largest value of −log(−log u) for u uniform on the multiples of 2^(−bits)
// below 1: 16.6355 for 24 bits, 36.7368 for 53.
func MaxGumbel(bits int) float64 { return -math.Log(-math.Log1p(-math.Ldexp(1, -bits))) }

// TruncatedGumbel returns the law of argmax(log p_i + G_i), with G_i independent standard Gumbel
// variables conditioned on G_i ≤ most (arXiv 2409.02908). With c = e^(−most), p in decreasing order
// and P_k = p_1+…+p_k,
//
//	P(i) = Σ_{k≥i} p_i e^(kc) (e^(−P_k c/p_k) − e^(−P_k c/p_{k+1}))/P_k.
//
// Entries of p must be positive.
func TruncatedGumbel(p []float64, most float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	out := make([]float64, len(p))
	c := math.Exp(-most)
	total := 0.0
	for k, at := range order {
		total += p[at]
		// On (c/p_k, c/p_{k+1}), with the clock v = e^(−x), k+1 of them compete.
		high := 0.0
		if k+1 < len(order) {
			high = math.Exp(float64(k+1)*c - total*c/p[order[k+1]])
		}
		part := (math.Exp(float64(k+1)*c-total*c/p[at]) - high) / total
		for _, i := range order[:k+1] {
			out[i] += p[i] * part
		}
	}
	return out
}
