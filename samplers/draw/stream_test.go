package draw_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// TestStreamGolden freezes the streams: a seed printed by one version must give the same sample in
// the next.
func TestStreamGolden(t *testing.T) {
	for _, test := range []struct {
		seed, index uint64
		want        []float64
	}{
		{0, 0, []float64{0.27088159225073605, 0.67564108465250239, 0.32259960846922142}},
		{1, 0, []float64{0.9958331350817049, 0.22145310463576218, 0.12492480174255816}},
		{0, 1, []float64{0.12176222162965544, 0.19002805679897983, 0.90555565485504874}},
		{math.MaxUint64, 12345, []float64{0.21024351472860003, 0.32576893830491238, 0.57835325947477445}},
	} {
		s := draw.NewStream(test.seed, test.index)
		var got []float64
		for range 3 {
			got = append(got, s.Float64())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("seed %d, index %d: %.17g, want %.17g", test.seed, test.index, got, test.want)
		}
	}
}

// TestStreams checks that neighbouring seeds and indices give unrelated uniforms in (0,1).
func TestStreams(t *testing.T) {
	const n = 4000
	var cross, squares float64
	cells := make([]int, 16)
	for i := range uint64(n) {
		a, b := draw.NewStream(7, i).Float64(), draw.NewStream(8, i+1).Float64()
		if !(a > 0 && a < 1) {
			t.Fatalf("uniform %v is not in (0,1)", a)
		}
		cross += (a - 0.5) * (b - 0.5)
		squares += (a - 0.5) * (a - 0.5)
		cells[int(a*16)]++
	}
	if r := cross / squares; math.Abs(r) > 4/math.Sqrt(n) {
		t.Errorf("correlation of neighbouring streams is %v", r)
	}
	fair := slices.Repeat([]float64{1.0 / 16}, 16)
	if p := reftest.Goodness(cells, fair); p < 1e-4 {
		t.Errorf("first uniforms of %d indices: chi-square p = %v", n, p)
	}
}
