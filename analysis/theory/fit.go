package theory

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Power is a least-squares fit log y = Constant + D·log d + InverseEps·log(1/ε).
type Power struct {
	Constant, D, InverseEps float64
	// MaxResidual is the largest |residual| in log y.
	MaxResidual float64
}

// FitPower fits y > 0 to powers of d and 1/ε. It is an error where the rows do not
// determine three coefficients.
func FitPower(d []int, eps, y []float64) (Power, error) {
	n := len(y)
	if len(d) != n || len(eps) != n {
		panic("theory: columns of different lengths")
	}
	if n < 3 {
		return Power{}, errors.New("a fit of two exponents needs at least 3 rows")
	}
	a, b := mat.NewDense(n, 3, nil), mat.NewVecDense(n, nil)
	for i := range y {
		a.SetRow(i, []float64{1, math.Log(float64(d[i])), -math.Log(eps[i])})
		b.SetVec(i, math.Log(y[i]))
	}
	var c, fitted mat.VecDense
	if err := c.SolveVec(a, b); err != nil {
		return Power{}, errors.New("the rows do not determine two exponents")
	}
	p := Power{Constant: c.AtVec(0), D: c.AtVec(1), InverseEps: c.AtVec(2)}
	fitted.MulVec(a, &c)
	for i := range y {
		p.MaxResidual = max(p.MaxResidual, math.Abs(fitted.AtVec(i)-b.AtVec(i)))
	}
	return p, nil
}
