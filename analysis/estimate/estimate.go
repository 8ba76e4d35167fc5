// Package estimate holds estimated numbers with their errors. An [Estimate] never looks better than
// it is: if the samples do not determine an error, its interval is infinite and it has a warning.
//
// Intervals are Student's t over independent units: draws, pairs or groups of draws that depend on
// each other by design, windows of a text, or clusters of windows. Functions do not keep or change
// their arguments and may be called by several goroutines.
package estimate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// DefaultConfidence is the level of an interval if none is given.
const DefaultConfidence = 0.95

// Estimate is a mean with its standard error and an interval.
type Estimate struct {
	Mean float64
	// SE is the standard error of Mean, +Inf if it is unknown.
	SE float64
	// Lo and Hi are the ends of the interval, which covers the true value with probability
	// Confidence, as far as the normal approximation holds.
	Lo, Hi     float64
	Confidence float64
	// N is the number of samples, Units the number of independent units among them.
	N, Units int
	// Warnings name errors that the interval does not cover.
	Warnings []string
}

// MarshalJSON writes infinite numbers as "inf" and "-inf", and unknown ones as null, including an
// infinite SE.
func (e Estimate) MarshalJSON() ([]byte, error) {
	se := e.SE
	if math.IsInf(se, 0) {
		se = math.NaN()
	}
	return json.Marshal(Form{Number(e.Mean), Number(se), Number(e.Lo), Number(e.Hi), e.Confidence, e.N, e.Units, e.Warnings})
}

// UnmarshalJSON reads what MarshalJSON wrote, bit for bit.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	unknown := Number(math.NaN())
	j := Form{Mean: unknown, SE: unknown, Lo: unknown, Hi: unknown}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*e = Estimate{float64(j.Mean), float64(j.SE), float64(j.Lo), float64(j.Hi), j.Confidence, j.N, j.Units, j.Warnings}
	if math.IsNaN(e.SE) {
		e.SE = math.Inf(1)
	}
	return nil
}

// Form is the JSON form of an estimate.
type Form struct {
	// Mean is the value, null for a limit, which is hi.
	Mean Number `json:"mean"`
	// SE is its standard error, null if it is unknown.
	SE Number `json:"se"`
	// Lo and Hi are the ends of the interval.
	Lo         Number  `json:"lo"`
	Hi         Number  `json:"hi"`
	Confidence float64 `json:"confidence"`
	// N is the number of samples.
	N int `json:"n"`
	// Units is the number of independent units among them.
	Units int `json:"units"`
	// Warnings name errors that the interval does not cover.
	Warnings []string `json:"warnings,omitempty"`
}

// Exact returns the estimate of a number without error.
func Exact(x float64) Estimate { return Estimate{Mean: x, Lo: x, Hi: x, Confidence: 1} }

// AtMost returns a limit rather than an estimate: the true value is at most x with probability
// confidence. Mean is NaN, SE is +Inf, and the interval is open below.
func AtMost(x, confidence float64, n, units int) Estimate {
	return Estimate{Mean: math.NaN(), SE: math.Inf(1), Lo: math.Inf(-1), Hi: x, Confidence: confidence, N: n, Units: units}
}

// Limit returns the x of [AtMost]; false for an estimate, and if nothing is known.
func (e Estimate) Limit() (x float64, ok bool) {
	return e.Hi, math.IsNaN(e.Mean) && math.IsInf(e.Lo, -1) && !math.IsInf(e.Hi, 1)
}

// String returns "mean ± se" or "≤ limit".
func (e Estimate) String() string {
	if limit, ok := e.Limit(); ok {
		return fmt.Sprintf("≤ %.6g", limit)
	}
	return Digits(e.Mean, e.SE)
}

// NoInterval returns why an estimate with a standard error has no interval, with the number of samples
// that gives one; "" if it has one.
func (e Estimate) NoInterval() string {
	if len(e.Warnings) == 0 || math.IsInf(e.SE, 1) || !math.IsInf(e.Hi, 1) {
		return ""
	}
	return "no interval: " + e.Warnings[0]
}

// Digits returns "mean ± se" with two digits of the error and the mean to the same place, or "± ?"
// if the error is unknown.
func Digits(mean, se float64) string {
	switch {
	case math.IsInf(se, 1) || math.IsNaN(se):
		return fmt.Sprintf("%.4g ± ?", mean)
	case se <= 0:
		return fmt.Sprintf("%.6g ± %.2g", mean, se)
	case se < 1e-8 || se >= 1e9:
		digits := 2 + math.Floor(math.Log10(math.Abs(mean))) - math.Floor(math.Log10(se))
		return fmt.Sprintf("%.*g ± %.2g", int(min(max(digits, 1), 6)), mean, se)
	}
	return Rounded(mean, se) + " ± " + Rounded(se, se)
}

// Interval returns "lo..hi", to the place of the second digit of the error, or of the end if that is
// closer to 0.
func (e Estimate) Interval() string {
	if !(e.SE >= 1e-8 && e.SE < 1e9) {
		return fmt.Sprintf("%.6g..%.6g", e.Lo, e.Hi)
	}
	end := func(x float64) string {
		if x == 0 {
			return Rounded(x, e.SE)
		}
		return Rounded(x, min(e.SE, 2*math.Abs(x))) // A positive bound is not printed as 0.
	}
	return end(e.Lo) + ".." + end(e.Hi)
}

// Rounded formats x to the place of the second digit of its error, or with four digits if the error
// is 0, unknown or extreme.
func Rounded(x, se float64) string {
	switch {
	case !(se >= 1e-8 && se < 1e9):
		return fmt.Sprintf("%.4g", x)
	case math.Abs(x) >= 1e9:
		return fmt.Sprintf("%.2g", x)
	}
	place := 1 - int(math.Floor(math.Log10(se)))
	if place < 0 {
		unit := math.Pow10(-place)
		x, place = math.Round(x/unit)*unit, 0
	}
	if 2*math.Abs(x) < math.Pow10(-place) {
		x = 0 // no −0.00
	}
	return fmt.Sprintf("%.*f", place, x)
}

// Scale multiplies an estimate by a positive constant.
func (e Estimate) Scale(c float64) Estimate {
	e.Mean, e.SE, e.Lo, e.Hi = e.Mean*c, e.SE*c, e.Lo*c, e.Hi*c
	e.Warnings = slices.Clone(e.Warnings)
	return e
}

// Within clips the interval to the possible values of the quantity. If the mean itself is beyond
// one of the limits, the interval ends at the mean. A single possible value is exact.
func (e Estimate) Within(lo, hi float64) Estimate {
	e.Lo, e.Hi = max(e.Lo, min(lo, e.Mean)), min(e.Hi, max(hi, e.Mean))
	if e.Warnings = slices.Clone(e.Warnings); lo == hi {
		e.SE, e.Warnings = 0, nil
	}
	return e
}

// Map applies an increasing function, such as exp to nats per token, to the mean and the interval.
// SE is computed by the delta method, from the function's derivative at the mean.
func (e Estimate) Map(f, derivative func(float64) float64) Estimate {
	e.SE *= derivative(e.Mean)
	e.Mean, e.Lo, e.Hi = f(e.Mean), f(e.Lo), f(e.Hi)
	e.Warnings = slices.Clone(e.Warnings)
	return e
}

// A tail says which values may be missing from the samples, and so how much wider than Student's an
// interval is. Of fewer samples or units than least there is no interval: tools/coverage finds too few
// that hold the truth.
type tail int

const (
	normal tail = iota // none; equal samples keep their standard error of 0
	mild               // one, as far from the mean as the farthest sample
	heavy              // values twice as far, with a probability of log(2/(1−confidence))/n, that samples can miss
)

var least = [...]struct{ samples, units int }{normal: {2, 2}, mild: {16, 8}, heavy: {32, 32}}

// finish returns the estimate with a mean, a standard error and degrees of freedom; far is by how
// much the farthest unit moves the mean.
func (t tail) finish(mean, se, far float64, n, units int, dof, confidence float64) Estimate {
	if confidence == 0 {
		confidence = DefaultConfidence
	}
	e := Estimate{Mean: mean, SE: se, Lo: math.Inf(-1), Hi: math.Inf(1), Confidence: confidence, N: n, Units: units}
	why := ""
	switch {
	case n == 0:
		e.Mean, why = math.NaN(), "no samples"
	case math.IsInf(mean, 0) || math.IsNaN(mean):
		why = "a sample is not finite"
	case dof < 1:
		why = fmt.Sprintf("%d independent unit: no standard error", units)
	case t != normal && se <= same*max(1, math.Abs(mean)):
		why = "all samples are equal: no standard error"
	}
	switch few := least[t]; {
	case why == "" && se == 0:
		return e
	case why != "":
		e.SE, e.Warnings = math.Inf(1), []string{why}
		return e
	case n < few.samples || units < few.units:
		e.Warnings = []string{fmt.Sprintf("%d samples in %d independent units: an interval takes %d in %d", n, units, few.samples, few.units)}
		return e
	}
	half := se * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: dof}.Quantile((1+confidence)/2)
	switch t {
	case mild:
		half += far
	case heavy:
		half += 2 * math.Log(2/(1-confidence)) * far
	}
	e.Lo, e.Hi = mean-half, mean+half
	return e
}

// same is how far apart equal samples may be, by rounding, relative to max(1, |mean|).
const same = 1e-12

// Mean estimates the mean of independent samples. A confidence of 0 means [DefaultConfidence], here
// and below.
func Mean(x []float64, confidence float64) Estimate { return mild.mean(x, confidence) }

// Skewed is Mean for samples with a long tail, such as logarithms of ratios of probabilities, whose
// rare large values the standard error misses: the interval allows for unseen values twice as far from
// the mean as the farthest seen, with the greatest probability at which samples miss them.
func Skewed(x []float64, confidence float64) Estimate { return heavy.mean(x, confidence) }

func (t tail) mean(x []float64, confidence float64) Estimate {
	return t.ratio(x, slices.Repeat([]float64{1}, len(x)), len(x), confidence)
}

// Bounded estimates the mean of independent samples of lo..hi, such as probabilities. Both ends of the
// interval are limits ([UpperLimit]), valid for any number of samples.
func Bounded(x []float64, lo, hi, confidence float64) Estimate {
	e := mild.mean(x, confidence)
	if !math.IsInf(e.SE, 1) {
		e.Warnings = nil // of few samples
	}
	if e = e.Within(lo, hi); lo == hi || len(x) == 0 {
		return e
	}
	up, down := make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		up[i] = min(max((v-lo)/(hi-lo), 0), 1)
		down[i] = 1 - up[i]
	}
	e.Lo = hi - (hi-lo)*UpperLimit(down, (1+e.Confidence)/2)
	e.Hi = lo + (hi-lo)*UpperLimit(up, (1+e.Confidence)/2)
	return e
}

// moments returns the mean and the sum of squared deviations.
func moments(x []float64) (mean, ss float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	return mean, ss
}

// Groups estimates the mean of samples in runs of size consecutive ones that depend on each other
// by design: antithetic pairs, batches of low discrepancy. The units are the runs' means. A shorter
// last run counts in the mean by its number of samples.
func Groups(x []float64, size int, confidence float64) Estimate {
	var sums, counts []float64
	for from := 0; from < len(x); from += size {
		var sum float64
		run := x[from:min(from+size, len(x))]
		for _, v := range run {
			sum += v
		}
		sums, counts = append(sums, sum), append(counts, float64(len(run)))
	}
	return mild.ratio(sums, counts, len(x), confidence)
}

// Strata estimates the mean of samples, the i-th of which was drawn from the i-th of len(x) strata
// of equal probability. A single sample determines no variance of its stratum, so neighbours are
// paired, and their difference estimates it. That is right if neighbouring strata are alike and too
// large otherwise (collapsed strata; Cochran, Sampling Techniques, section 5A.12): up to 1.5 times
// for four strata with a decreasing mean. A few strata may have most of the variance, so the
// degrees of freedom are Satterthwaite's, (Σv)²/Σv² for the variances v of the pairs; even so 95 %
// intervals of 16 strata hold the truth in 88 % of seeds on one world. The samples must be in the order
// of the strata.
func Strata(x []float64, confidence float64) Estimate {
	n := len(x)
	mean, _ := moments(x)
	var variance, squares, far, dof float64
	for from := 0; from+1 < n; dof++ {
		to := from + 2
		if to+1 == n {
			to = n // an odd one joins the last two
		}
		_, ss := moments(x[from:to])
		size := float64(to - from)
		v := size * ss / (size - 1)
		variance += v
		squares += v * v
		far = max(far, math.Sqrt(v))
		from = to
	}
	if squares > 0 {
		dof = variance * variance / squares
	}
	return mild.finish(mean, math.Sqrt(variance)/float64(n), far/float64(n), n, n, dof, confidence)
}
