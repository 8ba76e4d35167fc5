package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// randomRows returns a table of random rows over v columns.
func randomRows(d, v int, seed uint64) *rowTable {
	r := rand.New(rand.NewPCG(seed, 2))
	t := &rowTable{Table: &Table{D: d, LogMu: make([]float64, d<<d)}, columns: v, rows: make([]float64, d<<(d-1)*v)}
	for a := range 1 << d {
		for _, i := range t.outside(a) {
			row := t.row(a, i)
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
			t.LogMu[a*d+i] = math.Log(row[0])
		}
	}
	return t
}

func lambdaSteps(t testing.TB, n int) schedule.Steps {
	s, ok := mustSampler(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: n}).Steps()
	if !ok {
		t.Fatal("no steps")
	}
	return s
}

// mixOf returns the mixture's probability of column 0 as samplers compute it.
func mixOf(t *rowTable, before, a, i int, w, floor float64) float64 {
	p := make([]float64, t.columns)
	draw.Mix(p, t.row(a, i), t.row(before, i), w, floor)
	return p[0]
}

// TestMixes compares mixtures with those of samplers, for all pairs of sets and for pairs that
// start with the empty set.
func TestMixes(t *testing.T) {
	table := randomRows(4, tile+13, 1)
	for _, test := range []struct{ w, floor float64 }{{1, 0.1}, {1, 0}, {0.1, 0.1}, {3, 1}, {30, 0.5}} {
		all := newMixes(table, table, test.w, test.floor, func(int, int) bool { return true })
		first := newMixes(table, table, test.w, test.floor, func(before, _ int) bool { return before == 0 })
		for a := range 1 << 4 {
			for _, i := range table.outside(a) {
				for b := a; ; b = (b - 1) & a {
					want := mixOf(table, b, a, i, test.w, test.floor)
					if got := math.Exp(all.at(b, a, i)); math.Abs(got-want) > 1e-14 {
						t.Fatalf("w %v, floor %v: sets %b, %b, position %d: %v, want %v", test.w, test.floor, b, a, i, got, want)
					}
					if b == 0 {
						if first.at(b, a, i) != all.at(b, a, i) {
							t.Fatalf("w %v, floor %v: sets ∅, %b, position %d: %v, with all pairs %v", test.w, test.floor, a, i, first.at(b, a, i), all.at(b, a, i))
						}
						break
					}
				}
			}
		}
	}
}

// TestTrapezoidalSmall uses texts whose probability is too small for a float64.
func TestTrapezoidalSmall(t *testing.T) {
	// The text's token has probability e^(−300) everywhere except in one row per position, which no
	// path to the text uses together with the others.
	table, s := randomRows(4, 7, 2), lambdaSteps(t, 6)
	for a := range 1 << 4 {
		for _, i := range table.outside(a) {
			if table.LogMu[a*4+i] = -300; a == 15&^(1<<i) {
				table.LogMu[a*4+i] = 0
			}
		}
	}
	if law := table.trapezoidal(s, 0.1); !(law.Denoise > 800 && law.Denoise < 1300) {
		t.Errorf("tokens of e^(−300): %v", law)
	}
	// A token that no row allows.
	table.mixed = nil
	for a := range 1 << 4 {
		if a&1 == 0 {
			table.LogMu[a*4] = math.Inf(-1)
		}
	}
	if law := table.trapezoidal(s, 0.1); !math.IsInf(law.Leave, 1) || !math.IsInf(law.Denoise, 1) {
		t.Errorf("a token that no row allows: %v", law)
	}
}

// TestPaired compares the recursion with the sum over all orders, for paired FHS and, without
// weights, parallel FHS.
func TestPaired(t *testing.T) {
	table := randomRows(5, 11, 3)
	for _, shape := range []shape{
		{sizes: []int{1, 2, 2}, weights: []float64{0, 1, 0}, floor: 0.1},
		{sizes: []int{1, 1, 1, 2}, weights: []float64{0, 0, 0, 0.5}, floor: 0.1},
		{sizes: []int{2, 3}, weights: []float64{0, 0.4}, floor: 0.1},
		{sizes: []int{2, 1, 1, 1}, weights: []float64{0, 2, 0, 0.25}},
		{sizes: []int{3, 2}, weights: []float64{0, 0}},
		{sizes: []int{5}, weights: []float64{0}},
	} {
		var sum float64
		orders := combin.Permutations(5, 5)
		for _, order := range orders {
			p, a, before, at := 1.0, 0, 0, 0
			for n, size := range shape.sizes {
				next := a
				for _, i := range order[at : at+size] {
					if w := shape.weights[n]; w == 0 {
						p *= math.Exp(table.LogMu[a*5+i])
					} else {
						p *= mixOf(table, before, a, i, w, shape.floor)
					}
					next |= 1 << i
				}
				before, a, at = a, next, at+size
			}
			sum += p
		}
		want := -math.Log(sum / float64(len(orders)))
		if got := table.blocks(shape); !sameLog(got, want) {
			t.Errorf("%+v: %v, want %v", shape, got, want)
		}
	}
}

// TestSequence checks that without time the steps of DMPM equal one step that reveals as much, and
// that revealing everything is first-hitting.
func TestSequence(t *testing.T) {
	law := func(table *Table, jumps ...float64) GridLaw {
		return reftest.Must(sequenceLaw(5, schedule.Steps{Jump: jumps}, table.always))(t)
	}
	for seed := range uint64(4) {
		table := randomTable(5, 4, seed, seed%2 == 1)
		want, got := law(table, 0.1, 0, 0.5, 0.2), law(table, 1-0.9*0.5*0.8)
		if !sameLog(got.Leave, want.Leave) || !sameLog(got.Denoise, want.Denoise) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		if got := law(table, 1); !sameLog(got.Leave, table.FHS()) || !sameLog(got.Denoise, table.FHS()) {
			t.Errorf("seed %d: nothing left: %v, FHS %v", seed, got, table.FHS())
		}
	}
}
