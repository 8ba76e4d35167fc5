package likelihood

import (
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestNothingWanted uses asks without wanted rows: they make no call, alone or next to an ask with
// one. A network does not accept a call without a wanted position.
func TestNothingWanted(t *testing.T) {
	rows, head := heads(t, "fairytale", model.Options{})
	target := Whole([]int{11, 12, 13})
	nothing := Ask{Target: &target, Masked: []int{0, 1, 2}}
	something := Ask{Target: &target, Masked: []int{0, 1, 2}, Wanted: []int{1}, LogMu: make([]float64, 1)}
	for name, e := range map[string]*Evaluator{"rows": rows, "log-probabilities": head} {
		for _, tt := range []struct {
			asks  []Ask
			calls int
		}{{nil, 0}, {[]Ask{nothing, nothing}, 0}, {[]Ask{nothing, something, nothing}, 1}} {
			before := e.Totals()
			reftest.OK(t, e.Eval(t.Context(), tt.asks))
			after := e.Totals()
			if calls, positions := after.Calls-before.Calls, after.Positions-before.Positions; calls != tt.calls || positions != tt.calls {
				t.Errorf("%s, %d asks: %d calls for %d positions, want %d", name, len(tt.asks), calls, positions, tt.calls)
			}
		}
	}
	reftest.Fails(t, rows.Check(Target{IDs: []int{1, 2}}), "", "a target without a free position is taken")
}
