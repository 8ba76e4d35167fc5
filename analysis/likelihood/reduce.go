package likelihood

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/internal/fault"
	"mdmgen/internal/parallel"
	"mdmgen/model/facts"
	"mdmgen/samplers/draw"
)

// reduce computes the answers of asks from the rows of a call, if the model does not do so itself
// (see [model.LogProber]). Each position is computed independently, so the number of goroutines
// changes no bit.
func (e *Evaluator) reduce(asks []Ask, batch []int, rows []float32) error {
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
			logMu, logMass, err := e.reduceRow(p, rows[from[r]+j*v:][:v], a.Target.IDs[l], a.Lambda, a.LogMass != nil)
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
	if len(rows) < 1<<15 || e.changed { // e.category has memory of its own and serves one goroutine.
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
func (e *Evaluator) reduceRow(p []float64, row []float32, token int, lambda float64, mass bool) (logMu, logMass float64, err error) {
	if e.changed {
		err = e.category.Probabilities(p, draw.Single(row))
		return math.Log(p[token]), 0, err
	}
	norm, err := e.logSumExp(p, row)
	if err == nil && mass {
		logMass = e.logMass(row, norm, lambda)
	}
	return float64(row[token]) - norm, logMass, err
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
				mass = e.facts.LogMass(mass, sigma(a.Lambda))
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
func (e *Evaluator) logMass(row []float32, norm, lambda float64) float64 {
	if e.facts.Output == facts.LogScore {
		return e.facts.LogMass(norm, sigma(lambda))
	}
	var sum float64
	e.clean(func(from, to int) {
		sum += expsum.Sum(row[from:to], norm, 1)
	})
	return math.Log(sum)
}

// logRate returns log r, r = α/(1−α) = (1−λ)/λ.
func logRate(lambda float64) float64 { return math.Log1p(-lambda) - math.Log(lambda) }

// clean calls do for each range of columns that may have probability.
func (e *Evaluator) clean(do func(from, to int)) {
	from := 0
	for _, x := range e.dropped {
		if x > from {
			do(from, x)
		}
		from = x + 1
	}
	if from < e.facts.Columns {
		do(from, e.facts.Columns)
	}
}

// logSumExp returns log Σ e^x over the columns that may have probability. dst, if not nil, receives
// their probabilities and must hold 0 at the other columns.
func (e *Evaluator) logSumExp(dst []float64, row []float32) (float64, error) {
	top := float32(math.Inf(-1))
	bad := false
	e.clean(func(from, to int) {
		x, nan := expsum.Greatest(row[from:to])
		top, bad = max(top, x), bad || nan
	})
	switch {
	case bad:
		return 0, fmt.Errorf("a logit is not a number")
	case math.IsInf(float64(top), 1):
		return 0, fmt.Errorf("a logit is +Inf")
	case math.IsInf(float64(top), -1):
		return 0, fmt.Errorf("every token has probability 0")
	}
	var sum float64
	shift := float64(top)
	e.clean(func(from, to int) {
		if dst == nil {
			sum += expsum.Sum(row[from:to], shift, 1)
		} else {
			sum += expsum.Into(dst[from:to], row[from:to], shift, 1)
		}
	})
	scale := 1 / sum
	for k, p := range dst {
		dst[k] = p * scale
	}
	return shift + math.Log(sum), nil
}
