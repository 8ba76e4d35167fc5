package main

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// TestDrawnOnce compares the integral with the sum over all pairs of paths, one of which is drawn
// by its weight.
func TestDrawnOnce(t *testing.T) {
	t.Parallel()
	w := reftest.Must(world.Open(reftest.Law(t, "markov3-exact")))(t)
	for _, temperature := range []float64{0.25, 0.5} {
		paths, zero := pathsOf(w, temperature), make([]float64, len(w.Q0()))
		target, z := slices.Clone(w.Q0()), 0.0
		for i, q := range target {
			target[i] = math.Pow(q, 1/temperature)
			z += target[i]
		}
		one, two := slices.Clone(zero), slices.Clone(zero)
		for _, a := range paths {
			one[a.state] += a.p * a.weight
			for _, b := range paths {
				two[a.state] += 2 * a.p * b.p * a.weight / (a.weight + b.weight)
			}
		}
		want := 0.0
		for i, q := range target {
			if math.Abs(one[i]-q) > 1e-12 {
				t.Errorf("temperature %v: the weights of text %d have the mean %v, want %v", temperature, i, one[i], q)
			}
			target[i] /= z
			want += math.Abs(two[i]-target[i]) / 2
		}
		if got := drawnOnce(paths, 2, target); math.Abs(got-want) > 1e-6 {
			t.Errorf("temperature %v: two particles are %v from the target, want %v", temperature, got, want)
		}
	}
}
