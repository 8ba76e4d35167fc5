package estimate

import "math"

// Counts estimates the mean of n independent whole numbers from their sum and the sum of their
// squares, which are exact below 2^53. The interval is Student's, infinite if all numbers are equal.
func Counts(sum int, squares float64, n int, confidence float64) Estimate {
	mean := float64(sum) / float64(n)
	// Σ(x−mean)² = (n·squares − sum²)/n, without cancellation if the sums are exact.
	ss := max(0, (float64(n)*squares-float64(sum)*float64(sum))/float64(n))
	return normal.finish(mean, math.Sqrt(ss/float64(n)/float64(n-1)), 0, n, n, float64(n-1), confidence)
}
