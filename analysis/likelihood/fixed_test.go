package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkExcess is the inner sum of exact laws, a row of 2048 columns a time.
func BenchmarkExcess(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	p := make([]float64, 2048)
	for k := range p {
		p[k] = r.Float64() / 1024
	}
	q := make([]float64, 2048)
	for k := range q {
		q[k] = r.Float64() / 1024
	}
	for _, f := range []fixed{{2048, false}, {2048, true}} {
		before, x := make([]uint64, f.words()), make([]uint64, f.words())
		f.put(before, p)
		f.put(x, q)
		f.threshold(x, x, 1, 0.1)
		b.Run(map[bool]string{false: "exact", true: "packed"}[f.packed], func(b *testing.B) {
			for b.Loop() {
				f.excess(before, x)
			}
		})
		if f.packed {
			b.Run("packed, without vectors", func(b *testing.B) {
				for b.Loop() {
					packedSum(before, x)
				}
			})
		}
	}
}

// TestPacked compares mixtures from rows of two columns a word with those from exact ones,
// for sharp and flat rows and an odd number of columns.
func TestPacked(t *testing.T) {
	const v = 2049
	r := rand.New(rand.NewPCG(3, 1))
	random := func(sharp float64) []float64 {
		p := make([]float64, v)
		var sum float64
		for k := range p {
			p[k] = math.Exp(sharp * r.NormFloat64())
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		return p
	}
	one := make([]float64, v)
	one[v-1] = 1
	rows := [][]float64{one, random(0)}
	for _, sharp := range []float64{0.01, 0.3, 1, 3, 10, 100} {
		rows = append(rows, random(sharp), random(sharp))
	}
	log := func(f fixed, p, q []float64, w, floor float64) float64 {
		before, x := make([]uint64, f.words()), make([]uint64, f.words())
		f.put(before, q)
		f.put(x, p)
		f.threshold(x, x, w, floor)
		return math.Log1p(w * float64(f.excess(before, x)) / f.one())
	}
	for n, p := range rows {
		for m, q := range rows {
			for _, c := range []struct{ w, floor float64 }{{1, 0.1}, {0.1, 0.1}, {1e-6, 0}, {3, 1}, {0.5, 0}} {
				exact, packed := log(fixed{v, false}, p, q, c.w, c.floor), log(fixed{v, true}, p, q, c.w, c.floor)
				if !(math.Abs(packed-exact) < 1e-7) {
					t.Errorf("rows %d and %d, w %v, floor %v: log Z %v, exactly %v", n, m, c.w, c.floor, packed, exact)
				}
			}
		}
	}
}

// TestPackedExcess compares what the processor's own instructions sum with the sum of
// columns, for all lengths of a tail and for the ends of the range.
func TestPackedExcess(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for n := range 100 {
		before, x := make([]uint64, n), make([]uint64, n)
		var want int64
		for k := range before {
			for shift := 0; shift < 64; shift += 32 {
				p, q := r.Uint64N(packedOne)/uint64(n), r.Uint64N(packedOne)>>r.IntN(32)
				switch r.IntN(8) {
				case 0:
					q = p
				case 1:
					q = lane
				case 2:
					q = 0
				case 3:
					p = 0
				}
				if k == 0 && shift == 0 && n == 17 {
					p, q = lane, 0
				}
				before[k] |= (p | packedOne) << shift
				x[k] |= q << shift
				want += max(int64(p)-int64(q), 0)
			}
		}
		if got, plain := packedExcess(before, x), packedSum(before, x); got != want || plain != want {
			t.Errorf("%d words: %d and %d, want %d", n, got, plain, want)
		}
	}
}

// at returns the probability of a column.
func (f fixed) at(row []uint64, column int) float64 {
	if !f.packed {
		return float64(row[column]) / exactOne
	}
	return float64(row[column/2]>>(column%2*32)&lane) / packedOne
}
