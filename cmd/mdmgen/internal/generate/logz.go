package generate

import (
	"fmt"
	"math"
	"slices"
)

// logZ is the logarithm of the mean of estimates of Z, which have no bias.
type logZ struct {
	Mean float64 `json:"mean"`
	// Error is the standard error, in nats: that of the mean estimate, divided by it; nil where there is
	// one sample.
	Error *float64 `json:"error"`
	N     int      `json:"n"`
}

// newLogZ is nil where there is no estimate.
func newLogZ(all []float64) *logZ {
	if len(all) == 0 {
		return nil
	}
	n, top := float64(len(all)), slices.Max(all)
	var sum, squares float64
	for _, x := range all {
		sum += math.Exp(x - top)
	}
	mean := sum / n
	for _, x := range all {
		d := math.Exp(x-top)/mean - 1
		squares += d * d
	}
	out := &logZ{Mean: top + math.Log(mean), N: len(all)}
	if n > 1 {
		out.Error = new(math.Sqrt(squares / (n - 1) / n))
	}
	return out
}

func (z *logZ) String() string {
	if z.Error == nil {
		return fmt.Sprintf("log Z %.4g", z.Mean)
	}
	return fmt.Sprintf("log Z %.4g ± %.2g", z.Mean, *z.Error)
}
