package interaction

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// TestMatrix compares the matrix with enumeration on worlds, on whole canvases and on one with a
// given token: with all tokens to rounding, with drawn tokens within their errors. Rows of one
// distribution give a symmetric matrix, others do not.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for name, symmetric := range map[string]bool{"markov3-exact": true, "markov4-sharp": false, "xor3-mixed": false} {
		w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
		blank := slices.Repeat([]int{w.Facts().MaskID}, w.Facts().Length)
		given := slices.Clone(blank)
		given[0] = 1
		for _, canvas := range [][]int{blank, given} {
			all := reftest.Must(MeasureMatrix(t.Context(), w, canvas, MatrixConfig{}))(t)
			drawn := reftest.Must(MeasureMatrix(t.Context(), w, canvas, MatrixConfig{Tokens: 400, Seed: 3}))(t)
			var turned, sum, unlike float64
			for i, from := range all.Positions {
				for j, to := range all.Positions {
					want := 0.0
					if from != to {
						want = told(w, canvas, from, to)
					}
					if got := all.Nats[i][j]; math.Abs(got-want) > 1e-12 || all.SE[i][j] != 0 {
						t.Errorf("%s: I(%d, %d) = %v ± %v, want %v", name, from, to, got, all.SE[i][j], want)
					}
					if got, se := drawn.Nats[i][j], drawn.SE[i][j]; math.Abs(got-want) > 4.5*se+1e-9 {
						t.Errorf("%s: drawn I(%d, %d) = %v ± %v, want %v", name, from, to, got, se, want)
					}
					unlike = max(unlike, math.Abs(all.Nats[i][j]-all.Nats[j][i]))
					if sum += want; to > from {
						turned += want
					} else {
						turned -= want
					}
				}
			}
			if (unlike < 1e-12) != symmetric {
				t.Errorf("%s: two directions differ by %v", name, unlike)
			}
			if math.Abs(all.Asymmetry.Mean-turned/sum) > 1e-12 || math.Abs(drawn.Asymmetry.Mean-turned/sum) > 4.5*drawn.Asymmetry.SE {
				t.Errorf("%s: asymmetry %v and %v, want %v", name, all.Asymmetry, drawn.Asymmetry, turned/sum)
			}
		}
		one := slices.Clone(blank)
		for l := range one[1:] {
			one[l] = 1
		}
		reftest.Fails(t, reftest.Err(MeasureMatrix(t.Context(), w, one, MatrixConfig{})), "", name, "a matrix of one position")
	}
}

// told returns I(i, j) from a world's rows.
func told(w *world.World, canvas []int, i, j int) (nats float64) {
	before := row(w, canvas, j)
	for a, p := range row(w, canvas, i) {
		if p == 0 {
			continue
		}
		next := slices.Clone(canvas)
		next[i] = a
		for b, x := range row(w, next, j) {
			if x > 0 {
				nats += p * x * math.Log(x/before[b])
			}
		}
	}
	return nats
}
