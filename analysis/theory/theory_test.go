package theory_test

import (
	"math"
	"testing"

	"mdmgen/analysis/theory"
)

func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

// TestCollision enumerates all ways to assign three positions to four calls.
func TestCollision(t *testing.T) {
	reveal, left := []float64{0.3, 0, 0.25, 0.4}, 0.05
	w := append(append([]float64(nil), reveal...), left)
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
	if got := math.Exp(theory.LogCollisionBound(3, reveal, left, false)); !near(got, alone, 1e-15) {
		t.Errorf("masks stay: p* = %v, want %v", got, alone)
	}
	if got := math.Exp(theory.LogCollisionBound(3, reveal, left, true)); !near(got, aloneFilled, 1e-15) {
		t.Errorf("denoised: p* = %v, want %v", got, aloneFilled)
	}
	if got := theory.LogCollisionBound(4, reveal, left, false); !math.IsInf(got, -1) {
		t.Errorf("four positions in three calls: log p* = %v", got)
	}
}

// TestLogCollision uses uniform calls, which have the closed form N!/((N−d)!·N^d), also far below
// the least float64.
func TestLogCollision(t *testing.T) {
	for _, test := range []struct{ d, n int }{{3, 3}, {8, 100}, {1024, 1024}, {1024, 1100}, {1024, 4096}, {1024, 100000}} {
		w := make([]float64, test.n)
		for k := range w {
			w[k] = 1 / float64(test.n)
		}
		want := 0.0
		for j := range test.d {
			want += math.Log1p(-float64(j) / float64(test.n))
		}
		if got := theory.LogCollisionBound(test.d, w, 0, true); !near(got, want, 1e-11) {
			t.Errorf("d = %d, N = %d: log p* = %v, want %v", test.d, test.n, got, want)
		}
	}
}

// TestTerms compares each term with a computation by hand.
func TestTerms(t *testing.T) {
	a := theory.Theorem2(3, 4, 5, 0.01, 0.5, 0.2)
	if !near(a.Sum(), 3*math.Exp(-5)+0.2+0.5*12*(1-math.Exp(-5)+math.Log(100))+0.03, 1e-14) {
		t.Errorf("Theorem 2: %+v", a)
	}
	b := theory.Corollary1(3, 4, 5, 0.5, 0.25, 0)
	if !near(b.Sum(), 3*math.Exp(-5)+0.5*12*(1-math.Exp(-5)+2), 1e-14) {
		t.Errorf("Corollary 1: %+v", b)
	}
}
