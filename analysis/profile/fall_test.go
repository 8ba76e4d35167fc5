package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

// TestFallingSmooths checks that a noisy smooth loss is smoothed, which brings it nearer to the
// truth, and that an exact one with a bend is not.
func TestFallingSmooths(t *testing.T) {
	c := truth(64)
	s := drawn(t, rand.New(rand.NewPCG(8, 1)), c, 40, 64).All()
	if !s.Smoothed() {
		t.Fatal("a noisy profile is not smoothed")
	}
	// What windows have in common shifts a whole profile and does not affect choices.
	miss := func(got []float64) float64 {
		var mean, square float64
		for j := range c {
			mean += (got[j] - c[j]) / float64(len(c))
		}
		for j := range c {
			square += (got[j] - c[j] - mean) * (got[j] - c[j] - mean)
		}
		return math.Sqrt(square / float64(len(c)))
	}
	if smoothed, plain := miss(s.NonIncreasing()), miss(s.monotone()); !(smoothed < 0.8*plain) {
		t.Errorf("smoothed misses by %v, plain by %v", smoothed, plain)
	}
	bent := []float64{9, 9, 9, 1, 1, 1}
	one := NewTerms([]int{1, 1, 1, 1, 1, 1}, bent)
	p := reftest.Must(New(6, true, numbered(one, one, one, one)))(t)
	if got := p.NonIncreasing(); !slices.Equal(got, bent) {
		t.Errorf("a known profile became %v", got)
	}
}

// TestSmooth checks that smoothing preserves ends, lines and monotonicity.
func TestSmooth(t *testing.T) {
	line := []float64{5, 4, 3, 2, 1}
	for j, v := range smooth(line) {
		if math.Abs(v-line[j]) > 1e-14 {
			t.Errorf("a line has %v at %d, want %v", v, j, line[j])
		}
	}
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 2, 3, 50, 700} {
		c := make([]float64, n)
		for j := range c {
			c[j] = r.ExpFloat64()
		}
		slices.Sort(c)
		slices.Reverse(c)
		got := smooth(c)
		if math.Abs(got[0]-c[0]) > 1e-14 || math.Abs(got[n-1]-c[n-1]) > 1e-14 {
			t.Errorf("%d: ends %v and %v, want %v and %v", n, got[0], got[n-1], c[0], c[n-1])
		}
		for j := 1; j < n; j++ {
			if got[j] > got[j-1] {
				t.Fatalf("%d: rises at %d", n, j)
			}
		}
	}
}
