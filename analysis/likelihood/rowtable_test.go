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
	t := &RowTable{Table: &Table{D: d, LogMu: make([]float64, d<<d)}, columns: v, rows: make([]int64, d<<(d-1)*v)}
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
			for k, x := range t.row(a, i) {
				_ = x
				t.row(a, i)[k] = int64(row[k] / sum * unit)
			}
			t.LogMu[a*d+i] = math.Log(row[0] / sum)
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

// BenchmarkTrapezoidal is the recursion of a window of the size that step counts are
// compared on.
func BenchmarkTrapezoidal(b *testing.B) {
	table := randomRows(12, 2049, 1)
	for name, n := range map[string]int{"1": 2, "2": 4, "8": 16} {
		s := lambdaSteps(b, n)
		b.Run("steps="+name, func(b *testing.B) {
			for b.Loop() {
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
