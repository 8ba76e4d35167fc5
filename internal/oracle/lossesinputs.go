package oracle

import (
	"math"

	"mdmgen/analysis/verify"
	"mdmgen/samplers/schedule"
)

// inputs compares what the file derives from its own inputs: canvases with MASK where the
// mask says, the log-linear noise at t, and counts of masks.
func (l *lossRun) inputs() {
	f := l.file
	l.canvas("xt", f.Mask, f.XT)
	l.canvas("k_xt", f.KMask, f.KXT)
	if f.K != nil {
		got := make([][]int, len(f.KMask))
		want := make([][]int, len(f.KMask))
		for i, row := range f.KMask {
			got[i], want[i] = []int{count(row)}, []int{f.K[i]}
		}
		l.whole("k", got, want)
	}
	if f.T == nil {
		return
	}
	sigma, dsigma := make([]float64, len(f.T)), make([]float64, len(f.T))
	noise := schedule.LogLinear
	for i, t := range f.T {
		sigma[i] = noise.Theta(t)
		dsigma[i] = -noise.AlphaPrime(t) / math.Exp(-sigma[i])
	}
	for _, c := range []struct {
		name      string
		got, want []float64
		limit     float64
	}{
		{"sigma", sigma, f.Sigma32, singleNoise}, {"dsigma", dsigma, f.DSigma32, singleNoise},
		{"sigma_float64", sigma, f.Sigma64, doubleNoise}, {"dsigma_float64", dsigma, f.DSigma64, doubleNoise},
	} {
		if c.want != nil {
			l.within(c.name, c.got, c.want, c.limit)
		}
	}
}

// count is the number of masked positions.
func count(mask []int) int {
	n := 0
	for _, m := range mask {
		n += m
	}
	return n
}

// canvas compares x0 with MASK where mask is 1.
func (l *lossRun) canvas(name string, mask, want [][]int) {
	if want == nil || mask == nil {
		return
	}
	got := make([][]int, len(want))
	for i, x := range l.file.X0 {
		got[i] = make([]int, len(x))
		for p, id := range x {
			if got[i][p] = id; mask[i][p] == 1 {
				got[i][p] = l.e.Facts().MaskID
			}
		}
	}
	l.whole(name, got, want)
}

// whole compares whole numbers, which must agree.
func (l *lossRun) whole(name string, got, want [][]int) {
	if l.err != nil {
		return
	}
	c := verify.NewComparison(name, verify.Absolute, 0)
	for i, row := range want {
		for p, x := range row {
			c.Add(float64(got[i][p]), float64(x), func() string {
				if len(row) == 1 {
					return indexed(name, i)
				}
				return indexed(name, i, p)
			})
		}
	}
	item, err := c.Finish()
	l.items, l.err = append(l.items, item), err
}

// lossPair is a list of losses in float32 and in float64.
type lossPair struct{ single, double []float64 }

// floor compares the largest difference between float32 and float64 that the file states.
func (l *lossRun) floor(pairs []lossPair) {
	if !l.file.HasFloor || l.err != nil {
		return
	}
	most := 0.0
	for _, p := range pairs {
		for i := range min(len(p.single), len(p.double)) {
			most = max(most, math.Abs(p.single[i]-p.double[i])/(1+math.Abs(p.double[i])))
		}
	}
	l.within("floor_relative", []float64{most}, []float64{l.file.Floor}, doubleNoise)
}
