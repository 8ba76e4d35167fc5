package subset_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/subset"
)

func sameLog(a, b float64) bool { return reftest.Near(a, b, 1e-11) }

// TestGroups compares the recursion for groups in uniform order with the sum over all orders.
func TestGroups(t *testing.T) {
	for seed, sizes := range [][]int{{1, 2, 2}, {1, 1, 1, 2}, {2, 3}, {3, 2}, {5}, {1, 1, 1, 1, 1}} {
		table := lawstest.RandomTable(5, 4, uint64(seed), seed%2 == 1)
		var p float64
		orders := combin.Permutations(5, 5)
		for _, order := range orders {
			var groups [][]int
			at := 0
			for _, size := range sizes {
				groups, at = append(groups, order[at:at+size]), at+size
			}
			p += math.Exp(-table.Along(groups)) / float64(len(orders))
		}
		if got, want := table.Groups(sizes), -math.Log(p); !sameLog(got, want) {
			t.Errorf("%v: %v, want %v", sizes, got, want)
		}
	}
}

// TestSequence checks that without time the steps of DMPM equal one step that reveals as much, and
// that revealing everything is first-hitting.
func TestSequence(t *testing.T) {
	law := func(table *subset.Table, jumps ...float64) subset.Endings {
		return reftest.Must(subset.Grid(5, jumps, true, func(int) (*subset.Table, error) { return table, nil }))(t)
	}
	for seed := range uint64(4) {
		table := lawstest.RandomTable(5, 4, seed, seed%2 == 1)
		want, got := law(table, 0.1, 0, 0.5, 0.2), law(table, 1-0.9*0.5*0.8)
		if !sameLog(got.Leave, want.Leave) || !sameLog(got.Denoise, want.Denoise) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		if got := law(table, 1); !sameLog(got.Leave, table.FHS()) || !sameLog(got.Denoise, table.FHS()) {
			t.Errorf("seed %d: nothing left: %v, FHS %v", seed, got, table.FHS())
		}
	}
}

// TestSmall uses texts whose probability is too small for a float64, and one that has none.
func TestSmall(t *testing.T) {
	// The text's token has probability e^(−300) everywhere except in the rows with all others visible:
	// a last call on one mask gives it for nothing.
	table := lawstest.RandomTable(4, 1, 2, false)
	for a := range 1 << 4 {
		for i := range table.D {
			if a>>i&1 == 1 {
				continue
			}
			if table.LogMu[a*4+i] = -300; a == 15&^(1<<i) {
				table.LogMu[a*4+i] = 0
			}
		}
	}
	for _, oneByOne := range []bool{false, true} {
		law := func() subset.Endings {
			return reftest.Must(subset.Grid(4, []float64{0.2, 0.3, 0.5}, oneByOne, func(int) (*subset.Table, error) { return table, nil }))(t)
		}
		if got := law(); !(got.Denoise > 900-1e-9 && got.Leave < 910 && got.Denoise <= got.Leave) {
			t.Errorf("one by one %t: tokens of e^(−300): %v", oneByOne, got)
		}
		saved := slices.Clone(table.LogMu)
		for a := range 1 << 4 {
			if a&1 == 0 {
				table.LogMu[a*4] = math.Inf(-1)
			}
		}
		if got := law(); !math.IsInf(got.Leave, 1) || !math.IsInf(got.Denoise, 1) {
			t.Errorf("one by one %t: a token that no row allows: %v", oneByOne, got)
		}
		table.LogMu = saved
	}
}
