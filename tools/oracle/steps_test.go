package oracle

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"mdmgen/analysis/estimate"
)

// This file counts the steps that Theorem 3's constructions need.

// The tables of Theorem 3 are for ε in (0,1): γ = ε^(1/4)/d, constant Euler steps on
// [γ, T+γ] from the all-mask state, exact score, target √ε.

// gamma3 returns Theorem 3's noise time ε^(1/4)/d.
func gamma3(d int, eps float64) float64 { return math.Pow(eps, 0.25) / float64(d) }

// horizon3 returns T = log(d/√ε).
func horizon3(d int, eps float64) float64 { return math.Log(float64(d) / math.Sqrt(eps)) }

// A stepDistance is a total variation distance, or a bound on one, as a function of the number of
// steps.
type stepDistance struct {
	Of func(n int) float64
	// guess is a number of steps at which it is about √ε.
	guess float64
	eps   float64
}

// Steps returns the least N at which the distance is at most √ε.
func (d stepDistance) Steps() stepCount {
	return leastSteps(d.Of, math.Sqrt(d.eps), int(d.guess))
}

// pointDistance returns TV for the paper's construction with T = t. The paper claims that d/√ε
// steps are needed, up to logarithms; the number is T·√(d/2)·ε^(−1/4).
func pointDistance(d int, eps, t float64) stepDistance {
	c := pointMass{d, gamma3(d, eps)}
	return stepDistance{
		Of:    func(n int) float64 { return c.TV(constantSteps(t+c.Gamma, c.Gamma, n)) },
		guess: t * math.Sqrt(float64(d)/2) / math.Pow(eps, 0.25),
		eps:   eps,
	}
}

// pairsDistance returns the same for pairs of equal tokens out of v: (1−1/V)·T·d/(4√ε) steps, which
// does prove the statement.
func pairsDistance(d, v int, eps, t float64) stepDistance {
	c := tokenPairs{d, v, gamma3(d, eps)}
	return stepDistance{
		Of:    func(n int) float64 { return c.TV(constantSteps(t+c.Gamma, c.Gamma, n)) },
		guess: (1 - 1/float64(v)) * t * float64(d) / (4 * math.Sqrt(eps)),
		eps:   eps,
	}
}

// stepsNeeded returns a lower bound on the number of steps of every grid sampler that reveals each
// masked position independently, with a common probability per step, on pairs of equal tokens
// noised for gamma, with the exact posterior and masks left: TV ≤ √ε implies
//
//	N ≥ (1−1/V)·(e^(−γ)−√ε)²/(1−(1−√ε)^(2/d)),
//
// for finite d and ε and without a hidden constant. It bounds steps, not network calls, and does
// not apply to first-hitting samplers.
func stepsNeeded(d, v int, eps, gamma float64) float64 {
	kept := max(math.Exp(-gamma)-math.Sqrt(eps), 0)
	return (1 - 1/float64(v)) * kept * kept / -math.Expm1(2/float64(d)*math.Log1p(-math.Sqrt(eps)))
}

// powerFit is a least-squares fit of log y = Constant + D·log d + InverseEps·log(1/ε).
type powerFit struct {
	Constant, D, InverseEps float64
	// MaxResidual is the largest |residual| in log y.
	MaxResidual float64
}

// fitPower fits y > 0 to powers of d and 1/ε. It returns an error if the rows do not determine
// three coefficients.
func fitPower(d []int, eps, y []float64) (powerFit, error) {
	n := len(y)
	if len(d) != n || len(eps) != n {
		panic("theory: columns of different lengths")
	}
	if n < 3 {
		return powerFit{}, errors.New("a fit of two exponents needs at least 3 rows")
	}
	a, b := mat.NewDense(n, 3, nil), mat.NewVecDense(n, nil)
	for i := range y {
		a.SetRow(i, []float64{1, math.Log(float64(d[i])), -math.Log(eps[i])})
		b.SetVec(i, math.Log(y[i]))
	}
	var c, fitted mat.VecDense
	if err := c.SolveVec(a, b); err != nil {
		return powerFit{}, errors.New("the rows do not determine two exponents")
	}
	p := powerFit{Constant: c.AtVec(0), D: c.AtVec(1), InverseEps: c.AtVec(2)}
	fitted.MulVec(a, &c)
	for i := range y {
		p.MaxResidual = max(p.MaxResidual, math.Abs(fitted.AtVec(i)-b.AtVec(i)))
	}
	return p, nil
}

// exactScoreRateIntegral returns Theorem 1's integral for the paper's frozen rates and the exact
// posterior, on forward times theta decreasing from T to δ, for data without MASK:
//
//	d·Σ_k [(e^(−θ_{k+1}) − e^(−θ_k))·(1+r_k) − r_k η_k] = d·Σ_k r_k (e^η_k − 1 − η_k),  r_k = 1/(e^θ_k − 1).
//
// It does not depend on q0 or the vocabulary: it is the cost of time discretisation only.
func exactScoreRateIntegral(d int, theta []float64) float64 {
	var sum estimate.Sum
	for k := range len(theta) - 1 {
		sum.Add(expm2(theta[k]-theta[k+1]) / math.Expm1(theta[k]))
	}
	return float64(d) * sum.Value()
}

// expm2 returns e^x − 1 − x for x ≥ 0, without cancellation at small x.
func expm2(x float64) float64 {
	if x > 0.5 {
		return math.Expm1(x) - x
	}
	term, sum := x*x/2, 0.0
	for n := 3.0; term > 1e-18*sum; n++ {
		sum += term
		term *= x / n
	}
	return sum
}
