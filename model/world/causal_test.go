package world_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
)

// TestCausalRows compares the rows of both laws with the tables: those of a block do not see what is behind
// it, causal ones see the text before, and none follows a mask or the last position.
func TestCausalRows(t *testing.T) {
	t.Parallel()
	w := lawstest.NewCausal(t, 1, 4, 2, 2, 0.5)
	if f := w.Facts(); !f.Causal || f.BlockSize != 2 || !w.Spec().Causal {
		t.Fatalf("facts %+v", f)
	}
	rows := reftest.Must(w.Rows(t.Context(), samplers.Call{
		IDs:       []int64{1, 0, 2, 1, 1, 0, 1, 0, 1, 0, 2, 0},
		Positions: []int64{2, 0, 2, 3, 1, 2},
		Counts:    []int{1, 3, 2},
		Blocks:    []samplers.Span{{From: 1, To: 3}, {From: 4, To: 4}, {From: 3, To: 3}},
	}))(t)
	mu := make([]float64, 2)
	lawstest.Mu(w.World, mu, w.State([]int{1, 0, 2, 2}), 2, 0)
	for i, want := range [][]float64{mu, w.After[0][1], w.After[2][0b101], {0, 0}, w.After[1][0b10], {0, 0}} {
		got := []float64{math.Exp(rows.At(2 * i)), math.Exp(rows.At(2*i + 1))}
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("row %d is %v, want %v", i, got, want)
		}
	}
	_, err := w.Rows(t.Context(), samplers.Call{IDs: []int64{1, 0, 2, 1}, Positions: []int64{2}, Counts: []int{1}})
	reftest.Fails(t, err, "0 blocks for 1 rows")
}

// TestCausalErrors changes a world with a second law in one place.
func TestCausalErrors(t *testing.T) {
	t.Parallel()
	const two = `{"schema":"mdm-laws-world/2","d":2,"V":1,"mu_kind":"time_free","mu0":[[null,null],[null,[1]],[[1],null],[[1],[1]]],"causal":[[[1]]],"block_size":1}`
	reftest.Must(world.Parse([]byte(two)))(t)
	for _, test := range []struct{ old, new, want string }{
		{`"causal":[[[1]]]`, `"note":1`, "missing: causal"},
		{`[[[1]]]`, `[]`, "1 positions"},
		{`[[[1]]]`, `[[[1],[1]]]`, `"causal", position 1: must have 1 rows`},
		{`[[[1]]]`, `[[[0.5]]]`, `"causal", position 1, text 0: the probabilities sum to 0.5`},
		{`"block_size":1`, `"block_size":3`, "1..2"},
	} {
		reftest.FailsInLine(t, reftest.Err(world.Parse([]byte(strings.Replace(two, test.old, test.new, 1)))), test.want)
	}
	if w := reftest.Must(world.Parse([]byte(strings.Replace(two, "world/2", "world/1", 1))))(t); w.Facts().Causal {
		t.Error("a world of the first layout has a second law")
	}
}
