package theory

import "iter"

// MeanWaits returns E R_m for groups of random sizes over d positions, m = 1..d−1 (index 0 is 0).
// R_m is the number of positions after the first m in the group that contains position m. of
// yields the sizes in order, with their probabilities.
func MeanWaits(of iter.Seq2[[]int, float64], d int) []float64 {
	mean := make([]float64, d)
	for sizes, p := range of {
		from := 0
		for _, n := range sizes {
			for m := from + 1; m < from+n; m++ {
				mean[m] += float64(p * float64(from+n-m))
			}
			from += n
		}
	}
	return mean
}
