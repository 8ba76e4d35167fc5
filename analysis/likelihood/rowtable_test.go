package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/samplers"
)

// randomRows is a table of random rows over v columns.
func randomRows(d, v int, seed uint64) *RowTable {
	r := rand.New(rand.NewPCG(seed, 2))
	t := &RowTable{Table: &Table{D: d, LogMu: make([]float64, d<<d)}, fixed: newFixed(v)}
	t.rows = make([]uint64, d<<(d-1)*t.words())
	row := make([]float64, v)
	for a := range 1 << d {
		for _, i := range t.outside(a) {
			var sum float64
			for k := range row {
				x := r.Float64()
				x *= x
				x *= x
				row[k] = x * x
				sum += row[k]
			}
			for k := range row {
				row[k] /= sum
			}
			t.put(t.row(a, i), row)
			t.LogMu[a*d+i] = math.Log(row[0])
		}
	}
	return t
}

func lambdaSteps(t testing.TB, n int) samplers.Steps {
	s, ok := mustSampler(t, samplers.Options{Sampler: "tweedie", Grid: "lambda", Steps: n}).Steps()
	if !ok {
		t.Fatal("no steps")
	}
	return s
}

// mixOf is the mixture's probability of column 0, as samplers work it out.
func mixOf(t *RowTable, before, a, i int, w, floor float64) float64 {
	p, q := make([]float64, t.columns), make([]float64, t.columns)
	for k := range p {
		p[k], q[k] = t.at(t.row(a, i), k), t.at(t.row(before, i), k)
	}
	p[0], q[0] = math.Exp(t.LogMu[a*t.D+i]), math.Exp(t.LogMu[before*t.D+i])
	samplers.Mix(p, p, q, w, floor)
	return p[0]
}

// TestMixes compares mixtures from sums in integers with those of samplers.
func TestMixes(t *testing.T) {
	table := randomRows(4, tile+13, 1)
	tilt := make([]float64, 4)
	for _, test := range []struct{ w, floor float64 }{{1, 0.1}, {1, 0}, {0.1, 0.1}, {3, 1}, {30, 0.5}} {
		all, first := newMixes(table, table, tilt, test.w, test.floor, false), newMixes(table, table, tilt, test.w, test.floor, true)
		for a := range 1 << 4 {
			for _, i := range table.outside(a) {
				for b := a; ; b = (b - 1) & a {
					want := mixOf(table, b, a, i, test.w, test.floor)
					if got := all.at(b, a, i); math.Abs(got-want) > 1e-14 {
						t.Fatalf("w %v, floor %v: sets %b, %b, position %d: %v, want %v", test.w, test.floor, b, a, i, got, want)
					}
					if got := first.at(b, a, i); b == 0 && math.Abs(got-want) > 1e-14 {
						t.Fatalf("w %v, floor %v: sets ∅, %b, position %d: %v, want %v", test.w, test.floor, a, i, got, want)
					}
					if b == 0 {
						break
					}
				}
			}
		}
	}
}

// TestTrapezoidalLogDomain compares products with logarithms, and these with
// probabilities that products cannot hold.
func TestTrapezoidalLogDomain(t *testing.T) {
	table := randomRows(4, 7, 2)
	s := lambdaSteps(t, 6)
	tilt := table.tilt()
	h := halves{mu: table.tilted(tilt), mix: newMixes(table, table, tilt, 1, 0.1, false)}
	products, logs := newProductPass(4), newLogPass(4)
	for k := 0; k < 6; k += 2 {
		products.step(h, s.Jump[k], s.Jump[k+1])
		logs.step(h, s.Jump[k], s.Jump[k+1])
		for a, g := range products.g {
			if !sameLog(math.Log(g), logs.g[a]) {
				t.Errorf("step %d, set %b: %v and %v", k, a, math.Log(g), logs.g[a])
			}
		}
	}
	if !products.exact(s) {
		t.Error("products of moderate numbers are not trusted")
	}
	// The text's token has probability e^(−300) everywhere but in one row a position, which no
	// path to the text reads with the others.
	for a := range 1 << 4 {
		for _, i := range table.outside(a) {
			if table.LogMu[a*4+i] = -300; a == 15&^(1<<i) {
				table.LogMu[a*4+i] = 0
			}
		}
	}
	table.kept = nil
	law := table.Trapezoidal(s, 1, 0.1)
	if !(law.Denoise > 800 && law.Denoise < 1300) {
		t.Errorf("tokens of e^(−300): %v", law)
	}
	// A token that no row allows.
	table.kept = nil
	for a := range 1 << 4 {
		if a&1 == 0 {
			table.LogMu[a*4] = math.Inf(-1)
		}
	}
	if law := table.Trapezoidal(s, 1, 0.1); !math.IsInf(law.Leave, 1) || !math.IsInf(law.Denoise, 1) {
		t.Errorf("a token that no row allows: %v", law)
	}
}

// TestBlocks compares the recursion with the sum over all orders, and what has no weight
// with parallel FHS.
func TestBlocks(t *testing.T) {
	table := randomRows(5, 11, 3)
	for _, shape := range []Shape{
		{Sizes: []int{1, 2, 2}, Weights: [][]float64{nil, {0, 1}, {0, 0.5}}, Floor: 0.1},
		{Sizes: []int{2, 3}, Weights: [][]float64{nil, {0.4, 0.4, 0.4}}, Floor: 0.1},
		{Sizes: []int{2, 3}, Weights: [][]float64{nil, {0.25, 1, 2}}},
		{Sizes: []int{3, 2}, Weights: [][]float64{nil, {0, 0}}},
		{Sizes: []int{5}, Weights: [][]float64{nil}},
	} {
		var sum float64
		orders := 0
		permutations(5, func(order []int) {
			orders++
			p, a, before, at := 1.0, 0, 0, 0
			for n, size := range shape.Sizes {
				next := a
				for r, i := range order[at : at+size] {
					if w := shape.Weights[n]; w == nil || w[r] == 0 {
						p *= math.Exp(table.LogMu[a*5+i])
					} else {
						p *= mixOf(table, before, a, i, w[r], shape.Floor)
					}
					next |= 1 << i
				}
				before, a, at = a, next, at+size
			}
			sum += p
		})
		want := -math.Log(sum / float64(orders))
		if got := table.Blocks(shape); !sameLog(got, want) {
			t.Errorf("%+v: %v, want %v", shape, got, want)
		}
		if shape.weights(len(shape.Sizes)-1) == nil && !sameLog(table.Groups(shape.Sizes), want) {
			t.Errorf("%+v: parallel FHS %v, want %v", shape, table.Groups(shape.Sizes), want)
		}
	}
}

// permutations calls do with every order of 0..n−1.
func permutations(n int, do func([]int)) {
	order := make([]int, 0, n)
	var walk func(used int)
	walk = func(used int) {
		if len(order) == n {
			do(order)
			return
		}
		for i := range n {
			if used>>i&1 == 0 {
				order = append(order, i)
				walk(used | 1<<i)
				order = order[:len(order)-1]
			}
		}
	}
	walk(0)
}

// TestOneByOne compares the closed form with the recursion over steps of DMPM.
func TestOneByOne(t *testing.T) {
	for seed := range uint64(4) {
		table := randomTable(5, 4, seed, seed%2 == 1)
		s := samplers.Steps{Jump: []float64{0.1, 0, 0.5, 0.2}}
		want, err := dmpmLaw(5, s, func(int) (*Table, error) { return table, nil })
		if err != nil {
			t.Fatal(err)
		}
		if got := table.OneByOne(0.9 * 0.5 * 0.8); !sameLog(got.Leave, want.Leave) || !sameLog(got.Denoise, want.Denoise) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		if got := table.OneByOne(0); got.Leave != table.FHS() || got.Denoise != table.FHS() {
			t.Errorf("seed %d: nothing left: %v, FHS %v", seed, got, table.FHS())
		}
	}
}

// BenchmarkTrapezoidal is the recursion of a window of the size that step counts are
// compared on.
func BenchmarkTrapezoidal(b *testing.B) {
	table := randomRows(12, 2049, 1)
	for name, n := range map[string]int{"1": 2, "2": 4, "8": 16} {
		s := lambdaSteps(b, n)
		b.Run("steps="+name, func(b *testing.B) {
			for b.Loop() {
				table.kept = nil
				table.Trapezoidal(s, 1, 0.1)
			}
		})
	}
}

// BenchmarkBlocks is that of blocks of three.
func BenchmarkBlocks(b *testing.B) {
	table := randomRows(12, 2049, 1)
	for name, weights := range map[string][]float64{"extrapolated": {0, 1. / 3, 2. / 3}, "paired": {0.5, 0.5, 0.5}} {
		shape := Shape{Sizes: []int{3, 3, 3, 3}, Weights: [][]float64{nil, weights, weights, weights}, Floor: 0.1}
		if name == "paired" {
			shape.Weights[2] = nil
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				table.Blocks(shape)
			}
		})
	}
}
