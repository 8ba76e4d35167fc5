package likelihood

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/internal/parallel"
	"mdmgen/model/facts"
	"mdmgen/samplers/draw"
)

// reduce computes the answers of asks from the rows of a call, if the model does not do so itself
// (see [model.LogProber]). Each position is computed independently, so the number of goroutines
// changes no bit.
func (e *Evaluator) reduce(asks []Ask, batch []int, rows draw.Row) error {
	v := e.facts.Columns
	from := make([]int, len(batch)) // where the rows of each ask begin
	for r := range from[1:] {
		from[r+1] = from[r] + len(asks[batch[r]].Wanted)*v
	}
	errs := make([]error, len(batch))
	one := func(r int) {
		a := &asks[batch[r]]
		var p []float64
		if a.Whole != nil || e.changed {
			p = make([]float64, v)
		}
		for j, l := range a.Wanted {
			logMu, logMass, err := e.reduceRow(p, rows.Slice(from[r]+j*v, from[r]+(j+1)*v), a.Target.IDs[l], a.Lambda, a.LogMass != nil)
			if err != nil {
				errs[r] = fault.Errorf("likelihood", "row of position %d: %w", l, err)
				return
			}
			if a.LogMu[j] = logMu; a.LogMass != nil {
				a.LogMass[j] = logMass
			}
			if a.Whole != nil {
				a.Whole(j, p)
			}
		}
	}
	if rows.Len() < 1<<15 || e.changed { // e.category has memory of its own and serves one goroutine.
		for r := range batch {
			one(r)
		}
	} else {
		parallel.For(len(batch), one)
	}
	return cmp.Or(errs...)
}

// reduceRow returns log μ of a token and, if mass is set, log Σ μ of a row; p, if not nil, receives
// the probabilities.
func (e *Evaluator) reduceRow(p []float64, row draw.Row, token int, lambda float64, mass bool) (logMu, logMass float64, err error) {
	if e.changed {
		logMu, err = e.category.LogP(p, row, token)
		return logMu, 0, err
	}
	norm, err := e.category.Softmax(p, row)
	if err == nil && mass {
		logMass = e.logMass(row, norm, lambda)
	}
	return row.At(token) - norm, logMass, err
}

// take copies the results of the model's own head into the asks of a call.
func (e *Evaluator) take(asks []Ask, batch []int) error {
	mus, masses := e.mus, e.masses
	for _, i := range batch {
		a := &asks[i]
		for j, l := range a.Wanted {
			logMu, mass := mus[0], masses[0]
			mus, masses = mus[1:], masses[1:]
			if math.IsNaN(logMu) || math.IsNaN(mass) {
				return fault.Errorf("likelihood", "row of position %d: it has no softmax: a logit is not a number or +Inf, or all are −Inf", l)
			}
			a.LogMu[j] = logMu
			if a.LogMass == nil {
				continue
			}
			if e.facts.Output == facts.LogScore {
				mass = e.facts.LogMass(mass, e.sigmaAt(a.Lambda))
			}
			a.LogMass[j] = mass
		}
	}
	return nil
}

// grown returns a slice of n elements, in s's memory if it is large enough.
func grown(s []float64, n int) []float64 { return slices.Grow(s[:0], n)[:n] }

// logMass returns log Σ_a μ(a) of a row, where norm is log Σ_a e^row(a). For logits, μ is the
// softmax computed with norm, so the result is rounding error.
func (e *Evaluator) logMass(row draw.Row, norm, lambda float64) float64 {
	if e.facts.Output == facts.LogScore {
		return e.facts.LogMass(norm, e.sigmaAt(lambda))
	}
	return math.Log(e.category.Mass(row, norm))
}

// logRate returns log r, r = α/(1−α) = (1−λ)/λ.
func logRate(lambda float64) float64 { return math.Log1p(-lambda) - math.Log(lambda) }
