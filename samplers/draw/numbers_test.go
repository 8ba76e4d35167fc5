package draw

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestPhilox compares the generator with values of numpy.random.Philox, which is the same; the
// first, third and fourth are also the values published by its authors.
func TestPhilox(t *testing.T) {
	const all = math.MaxUint64
	for _, test := range []struct {
		key           [2]uint64
		counter, want [4]uint64
	}{
		{[2]uint64{}, [4]uint64{}, [4]uint64{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
		{[2]uint64{2026, 1}, [4]uint64{7, 3, 5, 0}, [4]uint64{0x971908c252283134, 0xb72bee1b19f54be, 0x286651948a8ed0d2, 0x8f67dd885a0a9234}},
		{[2]uint64{all, all}, [4]uint64{all, all, all, all}, [4]uint64{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
		{[2]uint64{0x452821e638d01377, 0xbe5466cf34e90c6c}, [4]uint64{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
			[4]uint64{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
	} {
		if got := philox(test.key, test.counter); got != test.want {
			t.Errorf("philox(%x, %x) = %x, want %x", test.key, test.counter, got, test.want)
		}
	}
}

// TestDrawsAreUniform checks numbers that differ in only one argument: seed, index, position or the
// number of the draw. Their high bits are uniform, neighbours are independent, and no two uses
// share a number.
func TestDrawsAreUniform(t *testing.T) {
	const n, cells = 1 << 16, 16
	along := map[string]func(i uint64) float64{
		"seed":     func(i uint64) float64 { return NewNumbers(i, 3).Token(5) },
		"index":    func(i uint64) float64 { return NewNumbers(3, i).Token(5) },
		"position": func(i uint64) float64 { return NewNumbers(3, 4).Token(int(i)) },
		"number":   func(i uint64) float64 { return NewNumbers(3, 4).uniform(forTokens, 5, i) },
		"plan":     func(i uint64) float64 { return NewNumbers(3, 4).Plan(int(i)) },
	}
	for name, at := range along {
		pairs := make([]int, cells*cells)
		last := at(n)
		for i := range uint64(n) {
			u := at(i)
			if !(u > 0 && u < 1) || u*0x1p53 != math.Trunc(u*0x1p53) {
				t.Fatalf("%s: %v is not a multiple of 2^-53 inside (0,1)", name, u)
			}
			pairs[int(last*cells)*cells+int(u*cells)]++
			last = u
		}
		x := 0.0
		for _, c := range pairs {
			x += (float64(c) - n/cells/cells) * (float64(c) - n/cells/cells) * cells * cells / n
		}
		if p := (distuv.ChiSquared{K: cells*cells - 1}).Survival(x); p < 1e-4 {
			t.Errorf("along the %s: chi-square of pairs has p = %.3g", name, p)
		}
	}
	seen := make(map[float64]bool)
	for _, at := range along {
		for i := range uint64(1000) {
			seen[at(i)] = true
		}
	}
	// Seed 3, index 4, position 5, number 0 and two more arguments are shared by design.
	if len(seen) < 5*1000-6 {
		t.Errorf("%d different numbers of 5000", len(seen))
	}
}

// TestTokensAreNumbered checks that the uniform of a position changes when a token is put there,
// and at no other time.
func TestTokensAreNumbered(t *testing.T) {
	d := NewNumbers(1, 2)
	first, other := d.Token(7), d.Token(8)
	if d.Token(7) != first || first == other || d.Plan(7) == first {
		t.Error("numbers differ by more than position and use")
	}
	d.Took(7)
	second := d.Token(7)
	if second == first || d.Token(8) != other {
		t.Error("the second draw at a position is not another one, or another position's changed")
	}
	e := NewNumbers(1, 2)
	e.Took(3)
	e.Took(7)
	if e.Token(7) != second {
		t.Error("what was drawn elsewhere changes a number")
	}
}
