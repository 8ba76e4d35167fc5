package interaction

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Smoothed returns the profile with less noise, for choosing groups: a plan chosen by raw means prefers
// those that are small by chance. The means are replaced by a surface, quadratic in the bins of masked
// fraction and distance on a logarithmic scale, times the ratio of sums to it around each bin. They
// are rounded to two digits, so that a measurement whose rows differ by rounding chooses the same
// groups. Standard errors stay those of the raw means, and so are too great.
func (p *Profile) Smoothed() *Profile {
	of := p.surface()
	out := *p
	out.Nats = make([][]float64, len(p.Nats))
	for f := range p.Nats {
		for b := range p.Distance {
			var sum, expected float64
			for g, nats := range p.Nats {
				for a, x := range nats {
					k := float64(p.Count[g][a]) * math.Exp(-float64((f-g)*(f-g)+(a-b)*(a-b))/(2*kernelBins*kernelBins))
					sum += k * x / of(g, a)
					expected += k
				}
			}
			x, _ := strconv.ParseFloat(strconv.FormatFloat(of(f, b)*sum/expected, 'g', 2, 64), 64)
			out.Nats[f] = append(out.Nats[f], x)
		}
	}
	return &out
}

// kernelBins is the width of the smoothing kernel, in bins of masked fraction or distance.
const kernelBins = 1.5

// surface fits the surface by iterated least squares: the greatest likelihood if means of n pairs are
// Gamma-distributed with a relative variance of the order of 1/n.
func (p *Profile) surface() func(f, b int) float64 {
	const terms = 6
	at := func(f, b int) []float64 {
		x, y := float64(f)/float64(len(p.Nats)), float64(b)/float64(len(p.Distance))
		return []float64{1, x, y, x * x, x * y, y * y}
	}
	var all float64
	for _, nats := range p.Nats {
		all += floats.Sum(nats) / float64(len(p.Nats)*len(nats))
	}
	beta := make([]float64, terms)
	beta[0] = math.Log(max(all, floorNats))
	of := func(f, b int) float64 { return math.Exp(floats.Dot(beta, at(f, b))) }
	for range fitSteps {
		normal, right := mat.NewSymDense(terms, nil), mat.NewVecDense(terms, nil)
		for i := range terms {
			normal.SetSym(i, i, ridge) // for bins on one line
		}
		for f, nats := range p.Nats {
			for b, x := range nats {
				row, n := mat.NewVecDense(terms, at(f, b)), float64(p.Count[f][b])
				normal.SymRankOne(normal, n, row)
				right.AddScaledVec(right, n*min((x+floorNats)/of(f, b)-1, farUp), row)
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(normal, right); err != nil {
			break // The surface so far is kept.
		}
		floats.Add(beta, step.RawVector().Data)
	}
	return of
}

// fitSteps is the number of steps of the fit, ridge its regularisation in pairs, farUp the greatest
// relative residual of a step, which keeps that finite, and floorNats stands for no interaction at all.
const (
	fitSteps  = 100
	ridge     = 1e-3
	farUp     = 2
	floorNats = 1e-9
)
