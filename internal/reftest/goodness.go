package reftest

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Goodness returns the chi-square p-value of counts under probabilities. Cells with an expectation
// below 5 are pooled. p is 0 if a count is positive where the probability is 0, if there are no
// counts, or if a probability is not a number.
func Goodness(counts []int, probabilities []float64) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	var stat, poolWant, poolGot float64
	cells := 0
	for i, c := range counts {
		want := probabilities[i] * float64(n)
		switch {
		case probabilities[i] == 0 && c > 0:
			return 0
		case want < 5:
			poolWant += want
			poolGot += float64(c)
		default:
			stat += (float64(c) - want) * (float64(c) - want) / want
			cells++
		}
	}
	if poolWant >= 5 {
		stat += (poolGot - poolWant) * (poolGot - poolWant) / poolWant
		cells++
	} else if poolGot > poolWant+10*math.Sqrt(poolWant+1) {
		return 0
	}
	if n == 0 || math.IsNaN(stat+poolWant) {
		return 0
	}
	if cells < 2 {
		return 1
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(stat)
}

// Pick draws from a distribution with one uniform u in (0,1), by inverting its cumulative sum in
// ascending order.
func Pick(p []float64, u float64) (token int) {
	var cumulative float64
	for i, x := range p {
		if cumulative += x; x > 0 {
			token = i
		}
		if cumulative > u {
			break
		}
	}
	return token
}

// Near reports whether two values are equal, or finite and apart by at most tolerance·max(1,|want|).
func Near(got, want, tolerance float64) bool {
	return got == want || !math.IsInf(want, 0) && math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}
