package half

import (
	"math"
	"testing"
)

// TestHalf checks all numbers of 16 bits: widening and rounding gives the same number, and halfway
// cases round to even.
func TestHalf(t *testing.T) {
	for _, f := range []struct {
		name string
		from func(uint16) float32
		to   func(float32) uint16
	}{{"float16", FromFloat16, ToFloat16}, {"bfloat16", FromBFloat16, ToBFloat16}} {
		for i := range 1 << 16 {
			h := uint16(i)
			x := f.from(h)
			if x != x {
				if y := f.from(f.to(x)); y == y {
					t.Fatalf("%s %#04x: not a number became %v", f.name, h, y)
				}
				continue
			}
			if got := f.to(x); got != h {
				t.Fatalf("%s %#04x: %v rounds to %#04x", f.name, h, x, got)
			}
			next := f.from(h + 1)
			if h&0x7FFF == 0x7FFF || next != next || math.IsInf(float64(next), 0) || math.IsInf(float64(x), 0) {
				continue
			}
			middle := (float64(x) + float64(next)) / 2
			even := h + h&1
			if got := f.to(float32(middle)); got != even {
				t.Fatalf("%s: %v, halfway after %#04x, rounds to %#04x, want %#04x", f.name, middle, h, got, even)
			}
		}
	}
	tests := []struct {
		x    float32
		want uint16
	}{{1, 0x3C00}, {-2, 0xC000}, {65504, 0x7BFF}, {65519.996, 0x7BFF}, {65520, 0x7C00}, {float32(math.Inf(-1)), 0xFC00}, {0x1p-25, 0}, {0x1.8p-25, 1}}
	for _, tt := range tests {
		if got := ToFloat16(tt.x); got != tt.want {
			t.Errorf("ToFloat16(%v) = %#04x, want %#04x", tt.x, got, tt.want)
		}
	}
}

// TestFloat16IsWidenedExactly checks every value of binary16 against the definition of the format.
func TestFloat16IsWidenedExactly(t *testing.T) {
	for h := range 1 << 16 {
		sign := 1.0
		if h>>15 == 1 {
			sign = -1
		}
		exp, frac := h>>10&0x1f, float64(h&0x3ff)
		var want float64
		switch exp {
		case 0:
			want = math.Ldexp(frac, -24)
		case 31:
			want = math.Inf(1)
			if frac != 0 {
				want = math.NaN()
			}
		default:
			want = math.Ldexp(1+frac/1024, exp-15)
		}
		want *= sign
		got := float64(FromFloat16(uint16(h)))
		if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && (got != want || math.Signbit(got) != math.Signbit(want)) {
			t.Fatalf("%#04x widens to %v, want %v", h, got, want)
		}
	}
}
