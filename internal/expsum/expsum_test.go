package expsum

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSum compares single terms with math.Exp over the whole range.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	worst := 0.0
	for range 300000 {
		shift := float64(float32(r.NormFloat64() * 30))
		x := float32(shift - 690*r.Float64()*r.Float64())
		want := math.Exp(float64(x) - shift)
		worst = max(worst, math.Abs(Sum([]float32{x}, shift, 1)-want)/want/(1+(shift-float64(x))/16))
	}
	if worst > 2e-15 {
		t.Errorf("relative error %.3g", worst)
	}
	t.Logf("relative error %.3g", worst)
	inf := float32(math.Inf(-1))
	if got := Sum([]float32{0, inf, -800, 0}, 0, 1); got != 2 {
		t.Errorf("sum with −Inf is %v, want 2", got)
	}
	if got := Sum([]float32{inf, inf}, 5, 1); got != 0 {
		t.Errorf("sum of nothing is %v", got)
	}
}

// TestInto compares terms with [math.Exp], and their sum with Sum, bit for bit.
func TestInto(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	row := make([]float32, 3000)
	for k := range row {
		row[k] = float32(-math.Pow(10, 4*r.Float64()-1))
	}
	row[7], row[8] = 0, float32(math.Inf(-1))
	dst := make([]float64, len(row))
	if got, want := Into(dst, row, 0, 1), Sum(row, 0, 1); got != want {
		t.Errorf("sum %v, want %v", got, want)
	}
	for k, x := range row {
		if want := math.Exp(float64(x)); math.Abs(dst[k]-want) > 2e-15*want*(1-float64(x)/16) {
			t.Errorf("e^%v: %v, want %v", x, dst[k], want)
		}
	}
}

// TestLog checks logarithms of subnormal numbers, and of numbers beyond float64, against multiples of
// log 2.
func TestLog(t *testing.T) {
	for _, c := range []struct {
		x        float64
		exponent int
		want     float64
	}{{1, 0, 0}, {0x1p-1074, 0, -1074 * math.Ln2}, {0x1p-1030, 0, -1030 * math.Ln2}, {0x1p500, -3000, -2500 * math.Ln2}, {0x1p-1074, -9, -1083 * math.Ln2}, {0, -5, math.Inf(-1)}} {
		if got := Log(c.x, c.exponent); got != c.want && !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("log %v·2^%d is %v, want %v", c.x, c.exponent, got, c.want)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	row := make([]float32, 2048)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range row {
		row[i] = float32(-10 * r.Float64())
	}
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			Sum(row, 0, 1)
		}
	})
	b.Run("greatest", func(b *testing.B) {
		for b.Loop() {
			Greatest(row)
		}
	})
	b.Run("math.Exp", func(b *testing.B) {
		for b.Loop() {
			var sum float64
			for _, x := range row {
				sum += math.Exp(float64(x))
			}
		}
	})
}
