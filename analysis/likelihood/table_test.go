package likelihood_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
)

// TestOrders checks FHS against the mean over all orders, and Jensen's inequality for any rows:
// −log P_FHS ≤ NELBO, which is the mean cost.
func TestOrders(t *testing.T) {
	for seed := range uint64(20) {
		table := &likelihood.Table{Table: *lawstest.RandomTable(5, 4, seed, false)}
		var p, mean float64
		orders := combin.Permutations(5, 5)
		for _, order := range orders {
			c := table.Chain(order)
			p += math.Exp(-c) / float64(len(orders))
			mean += c / float64(len(orders))
		}
		if !reftest.Near(table.FHS(), -math.Log(p), 1e-11) || !reftest.Near(table.NELBO(), mean, 1e-11) || table.FHS() > table.NELBO() {
			t.Errorf("seed %d: FHS %v, NELBO %v, want %v, %v", seed, table.FHS(), table.NELBO(), -math.Log(p), mean)
		}
		if got, want := table.LeftToRight(), table.Chain([]int{0, 1, 2, 3, 4}); got != want {
			t.Errorf("seed %d: left to right %v, want %v", seed, got, want)
		}
	}
	zero := &likelihood.Table{Table: *lawstest.RandomTable(4, 2, 3, false)}
	zero.LogMu[0] = math.Inf(-1) // one row excludes its token
	if !math.IsInf(zero.NELBO(), 1) || math.IsInf(zero.FHS(), 1) {
		t.Errorf("a row of probability 0: NELBO %v, FHS %v: want +Inf and a number", zero.NELBO(), zero.FHS())
	}
}
