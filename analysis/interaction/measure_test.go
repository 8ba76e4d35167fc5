package interaction

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// row is a world's own.
func row(w *world.World, canvas []int, l int) []float64 {
	out := make([]float64, w.Facts().Columns)
	w.Mu(out, w.State(canvas), l, 0)
	return out
}

// exact enumerates first-hitting's paths in a world without time: the expected sum of the
// interactions of a reveal at each masked fraction and distance, and the expected number of pairs.
func exact(w *world.World, canvas []int, p float64, d int, sums, counts map[[2]int]float64) {
	mask := w.Facts().MaskID
	var masked []int
	for l, id := range canvas {
		if id == mask {
			masked = append(masked, l)
		}
	}
	for _, i := range masked {
		for a, q := range row(w, canvas, i) {
			if q == 0 {
				continue
			}
			next := slices.Clone(canvas)
			next[i] = a
			at := p * q / float64(len(masked))
			for _, j := range masked {
				if j == i {
					continue
				}
				key := [2]int{len(masked), max(i-j, j-i)}
				counts[key] += at
				before := row(w, canvas, j)
				for b, x := range row(w, next, j) {
					if x > 0 {
						sums[key] += at * x * math.Log(x/before[b])
					}
				}
			}
			exact(w, next, at, d, sums, counts)
		}
	}
}

// TestMeasureWorlds compares the estimate with the enumeration, and predicts with it what two
// positions together lose.
func TestMeasureWorlds(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "markov3-exact"} {
		w, err := world.Open(reftest.Law(t, name))
		if err != nil {
			t.Fatal(err)
		}
		f := w.Facts()
		canvas := slices.Repeat([]int{f.MaskID}, f.Length)
		sums, counts := make(map[[2]int]float64), make(map[[2]int]float64)
		exact(w, canvas, 1, f.Length, sums, counts)
		in, err := Measure(context.Background(), w, canvas, Config{Sequences: 4000, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Check(); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for i, lambda := range in.Lambda {
			m := int(math.Round(lambda * float64(f.Length)))
			for j, delta := range in.Distance {
				if in.Count[i][j] == 0 {
					continue
				}
				key := [2]int{m, int(delta)}
				want := sums[key] / counts[key]
				if miss := math.Abs(in.Nats[i][j] - want); miss > 4.5*in.SE[i][j]+1e-6 {
					t.Errorf("%s: λ = %d/%d, δ = %v: %v ± %v, want %v", name, m, f.Length, delta, in.Nats[i][j], in.SE[i][j], want)
				}
				seen++
			}
		}
		if seen != len(counts) {
			t.Errorf("%s: %d bins, want %d", name, seen, len(counts))
		}
	}
}
