package draw_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/samplers/draw"
)

// TestMix checks rows computed by hand.
func TestMix(t *testing.T) {
	for _, test := range []struct {
		name          string
		p, prev, want []float64
		w, floor      float64
	}{
		{"no weight", []float64{0.25, 0.75}, []float64{1, 0}, []float64{0.25, 0.75}, 0, 0.1},
		{"extrapolation", []float64{0.5, 0.5}, []float64{0.6, 0.4}, []float64{0.4, 0.6}, 1, 0.1},
		{"half of it", []float64{0.5, 0.3, 0.2}, []float64{0.4, 0.3, 0.3}, []float64{0.55, 0.3, 0.15}, 0.5, 0.1},
		// 2p − p′ = (−0.2, 1.2) is cut at 0.1·0.3.
		{"floor", []float64{0.3, 0.7}, []float64{0.8, 0.2}, []float64{0.03 / 1.23, 1.2 / 1.23}, 1, 0.1},
		{"no floor", []float64{0.3, 0.7}, []float64{0.8, 0.2}, []float64{0, 1}, 1, 0},
		{"floor of one", []float64{0.3, 0.7}, []float64{0.8, 0.2}, []float64{0.3 / 1.5, 1.2 / 1.5}, 1, 1},
		{"impossible stays so", []float64{0, 1}, []float64{0.5, 0.5}, []float64{0, 1}, 1, 0.1},
	} {
		got := make([]float64, len(test.p))
		draw.Mix(got, test.p, test.prev, test.w, test.floor)
		var sum float64
		for i := range got {
			sum += got[i]
			if math.Abs(got[i]-test.want[i]) > 1e-15 {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
				break
			}
		}
		if math.Abs(sum-1) > 1e-15 {
			t.Errorf("%s: sums to %v", test.name, sum)
		}
		in := slices.Clone(test.p)
		if draw.Mix(in, in, test.prev, test.w, test.floor); !slices.Equal(in, got) {
			t.Errorf("%s: in place %v, else %v", test.name, in, got)
		}
	}
}
