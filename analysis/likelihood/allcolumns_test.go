package likelihood

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
)

// TestAllColumns checks that with every column normalised, including MASK and padding, a token's
// loss equals the cross-entropy over the row; without MASK and padding it is less.
func TestAllColumns(t *testing.T) {
	e := tiny(t, "llada-gqa-bf16")
	m, f := e.model, e.facts
	target := Target{IDs: []int{5, 17, 9, 21, 3}, Free: []int{2}}
	call := samplers.Call{IDs: []int64{5, 17, int64(f.MaskID), 21, 3}, Positions: []int64{2}, Counts: []int{1}}
	row := reftest.Must(m.Logits(t.Context(), call))(t)
	logits := make([]float64, f.Columns)
	for i := range logits {
		logits[i] = float64(row[i])
	}
	want := floats.LogSumExp(logits) - logits[9]
	whole := reftest.Must(New(m, Options{AllColumns: true}))(t)
	var nats [2]float64
	for i, e := range []*Evaluator{whole, e} {
		nats[i] = reftest.Must(e.Estimate(t.Context(), []Target{target}, 0, Config{Form: LLaDA}))(t)[0].Nats.Mean
	}
	t.Logf("%.6f nats over all columns, %.6f over tokens", nats[0], nats[1])
	if math.Abs(nats[0]-want) > 1e-5 || !(nats[1] < nats[0]-1e-5) {
		t.Errorf("%v nats over all columns, want %v; %v over tokens", nats[0], want, nats[1])
	}
}
