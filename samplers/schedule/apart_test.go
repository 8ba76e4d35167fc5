package schedule_test

import (
	"math"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
)

// TestApart enumerates all ways to assign three positions to four calls.
func TestApart(t *testing.T) {
	left := 0.05
	steps := schedule.Steps{Reveal: []float64{0.3, 0, 0.25, 0.4}, Stay: []float64{left}}
	w := append(append([]float64(nil), steps.Reveal...), left)
	var alone, aloneFilled float64
	for s := range 125 {
		at := []int{s % 5, s / 5 % 5, s / 25}
		p := w[at[0]] * w[at[1]] * w[at[2]]
		count := make([]int, 5)
		for _, k := range at {
			count[k]++
		}
		single := count[0] < 2 && count[1] < 2 && count[2] < 2 && count[3] < 2
		if single {
			if count[4] == 0 {
				alone += p
			}
			if count[4] < 2 {
				aloneFilled += p
			}
		}
	}
	if got := math.Exp(steps.LogApart(3, false)); !reftest.Near(got, alone, 1e-15) {
		t.Errorf("masks stay: p* = %v, want %v", got, alone)
	}
	if got := math.Exp(steps.LogApart(3, true)); !reftest.Near(got, aloneFilled, 1e-15) {
		t.Errorf("denoised: p* = %v, want %v", got, aloneFilled)
	}
	if got := steps.LogApart(4, false); !math.IsInf(got, -1) {
		t.Errorf("four positions in three calls: log p* = %v", got)
	}
}

// TestLogApart uses uniform calls, which have the closed form N!/((N−d)!·N^d), also far below the
// least float64.
func TestLogApart(t *testing.T) {
	for _, test := range []struct{ d, n int }{{3, 3}, {8, 100}, {1024, 1024}, {1024, 1100}, {1024, 4096}, {1024, 100000}} {
		w := make([]float64, test.n)
		for k := range w {
			w[k] = 1 / float64(test.n)
		}
		want := 0.0
		for j := range test.d {
			want += math.Log1p(-float64(j) / float64(test.n))
		}
		if got := (schedule.Steps{Reveal: w, Stay: []float64{0}}).LogApart(test.d, true); !reftest.Near(got, want, 1e-11) {
			t.Errorf("d = %d, N = %d: log p* = %v, want %v", test.d, test.n, got, want)
		}
	}
}
