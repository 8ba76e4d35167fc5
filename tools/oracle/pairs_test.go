package oracle

import (
	"math"

	"mdmgen/analysis/estimate"
)

// This file holds the constructions of Theorem 3 in closed form.

// stepPlan summarises when a grid sampler reveals a position: Left is the probability that it never
// does; SameStep is Σ_k w_k², the probability that two given positions are revealed in the same
// step.
type stepPlan struct{ Left, SameStep float64 }

// resync is the number of steps between exact evaluations of the exponential.
const resync = 64

// constantSteps returns Euler's plan on n equal steps from t to delta, for n up to 10^8:
//
//	p_k = η/(e^θ_k − 1),  Left = Π(1−p_k).
//
// e^θ − 1 is updated from step to step by one multiplication and recomputed every 64 steps.
// 1−Π(1−p_k) is updated within a block of steps, and its logarithms are added, so that nothing of
// size p_k is lost next to 1. Relative errors stay below 1e-12.
func constantSteps(t, delta float64, n int) stepPlan {
	eta := (t - delta) / float64(n)
	shrink, shift := math.Exp(-eta), math.Expm1(-eta)
	var logStay, same estimate.Sum
	for from := 0; from < n; from += resync {
		// θ counted from the end is exact if it is small.
		x := math.Expm1(delta + float64(n-from)*eta)
		stay := math.Exp(logStay.Value())
		gone, squares := 0.0, 0.0
		for range min(resync, n-from) {
			p := eta / x
			w := p * (1 - gone)
			gone += w
			squares += w * w
			x = x*shrink + shift
		}
		logStay.Add(math.Log1p(-gone))
		same.Add(stay * stay * squares)
	}
	return stepPlan{Left: math.Exp(logStay.Value()), SameStep: same.Value()}
}

// pointMass is Theorem 3's construction: q_γ is a point mass at a sequence of length D, noised for
// time Gamma. Every position is masked or correct, so both laws are determined by the number of
// masks.
type pointMass struct {
	D     int
	Gamma float64
}

// TV returns TV(Bin(d,p_M), Bin(d,1−e^(−γ))).
func (c pointMass) TV(p stepPlan) float64 {
	return binomialTV(c.D, p.Left, -math.Expm1(-c.Gamma))
}

// tokenPairs is the construction that does need d/√ε steps: D/2 independent pairs of equal tokens,
// uniform over V, noised for time Gamma. Partners revealed in the same step differ with probability
// 1−1/V, which under the truth is 0.
type tokenPairs struct {
	D, V  int
	Gamma float64
}

// Mismatch returns the probability that a pair ends with different tokens.
func (c tokenPairs) Mismatch(p stepPlan) float64 { return (1 - 1/float64(c.V)) * p.SameStep }

// TV returns ½ Σ|P−Q| over the classes of a pair: both masked, one masked, equal, different. Given
// the class, tokens have the same law under both.
func (c tokenPairs) TV(p stepPlan) float64 {
	n := c.D / 2
	different := c.Mismatch(p)
	truth := -math.Expm1(-c.Gamma)
	sampled := class(p.Left, different)
	exact := class(truth, 0)
	if truth == 0 {
		// Under the truth only the state with every pair equal has probability.
		return -math.Expm1(float64(n) * math.Log(sampled.equal))
	}
	// Sum over the numbers of pairs with both masked and with one masked.
	some := trinomial{n, sampled}
	real := trinomial{n, exact}
	var sum estimate.Sum
	for both := 0; both <= n; both++ {
		row := 0.0
		for one := 0; one <= n-both; one++ {
			a, b := some.probability(both, one), real.probability(both, one)
			row += math.Abs(a - b)
			if past(one, n, sampled.one, exact.one) && max(a, b) < negligible {
				break
			}
		}
		sum.Add(row)
		if past(both, n, sampled.both, exact.both) && row < negligible {
			break
		}
	}
	anyDifferent := -math.Expm1(float64(n) * math.Log1p(-different))
	return (sum.Value() + anyDifferent) / 2
}

// negligible is the size of a term that ends a sum.
const negligible = 1e-25

// past reports whether k is above the means of both laws.
func past(k, n int, p, q float64) bool { return float64(k) > float64(n)*max(p, q) }

// pair holds the probabilities of a pair's classes without differing tokens.
type pair struct{ both, one, equal float64 }

func class(masked, different float64) pair {
	return pair{masked * masked, 2 * masked * (1 - masked), (1-masked)*(1-masked) - different}
}

// trinomial counts the classes of n pairs.
type trinomial struct {
	n int
	pair
}

// probability returns the probability of both pairs fully masked, one with one mask, and the rest
// equal.
func (t trinomial) probability(both, one int) float64 {
	rest := t.n - both - one
	return math.Exp(logFactorial(t.n) - logFactorial(both) - logFactorial(one) - logFactorial(rest) +
		power(both, t.both) + power(one, t.one) + power(rest, t.equal))
}

// power returns k·log p, with 0·log 0 = 0.
func power(k int, p float64) float64 {
	if k == 0 {
		return 0
	}
	return float64(k) * math.Log(p)
}

func logFactorial(n int) float64 {
	out, _ := math.Lgamma(float64(n) + 1)
	return out
}

// binomialTV returns TV(Bin(n,p), Bin(n,q)).
func binomialTV(n int, p, q float64) float64 {
	var sum estimate.Sum
	for k := 0; k <= n; k++ {
		choose := logFactorial(n) - logFactorial(k) - logFactorial(n-k)
		a := math.Exp(choose + power(k, p) + float64(n-k)*math.Log1p(-p))
		b := math.Exp(choose + power(k, q) + float64(n-k)*math.Log1p(-q))
		sum.Add(math.Abs(a - b))
		if past(k, n, p, q) && max(a, b) < negligible {
			break
		}
	}
	return sum.Value() / 2
}
