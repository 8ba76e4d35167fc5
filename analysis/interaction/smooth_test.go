package interaction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/samplers/spread"
)

// TestSmoothed checks that a smooth surface stays as it is, that a noisy one comes nearer to it,
// and that interactions of 0 stay 0.
func TestSmoothed(t *testing.T) {
	t.Parallel()
	p := &Profile{Interactions: spread.Interactions{Lambda: []float64{0.1, 0.3, 0.5, 0.7, 0.9}, Distance: []float64{1, 2, 3, 4, 5.5, 8, 11}}}
	r := rand.New(rand.NewPCG(1, 2))
	var truth, none [][]float64
	for f := range p.Lambda {
		var row, noisy []float64
		var count []int
		for b := range p.Distance {
			row = append(row, math.Exp(float64(f)/2-float64(b)+float64(f*b)/20))
			noisy = append(noisy, row[len(row)-1]*2*r.Float64()) // its mean is the truth
			count = append(count, 1+r.IntN(20))
		}
		truth, p.Nats, p.Count = append(truth, row), append(p.Nats, noisy), append(p.Count, count)
		none = append(none, make([]float64, len(row)))
	}
	miss := func(of [][]float64) (sum float64) {
		for f, row := range of {
			for b, x := range row {
				sum += math.Abs(math.Log((x + 1e-9) / (truth[f][b] + 1e-9)))
			}
		}
		return sum / float64(len(truth)*len(truth[0]))
	}
	before := miss(p.Nats)
	if after := miss(p.Smoothed().Nats); after > 0.9*before || after < 0.02 {
		t.Errorf("noise of %v nepers, %v before: want less", after, before)
	}
	p.Nats = truth
	if after := miss(p.Smoothed().Nats); after > 0.05 { // by rounding to two digits
		t.Errorf("a smooth surface changes by %v nepers", after)
	}
	p.Nats = none
	if got := p.Smoothed(); got.Check() != nil || slices.ContainsFunc(got.Nats, func(row []float64) bool { return slices.Max(row) != 0 }) {
		t.Errorf("no interactions become %v", got.Nats)
	}
}
