package schedule_test

import (
	"slices"
	"testing"

	"mdmgen/samplers/schedule"
)

// TestQuotas checks that quotas sum to all masks with every rounding.
func TestQuotas(t *testing.T) {
	for masks := range 40 {
		for steps := 1; steps < 50; steps++ {
			for _, rule := range []schedule.Rounding{schedule.RoundLLaDA, schedule.RoundDream, schedule.RoundDLLM} {
				for _, cosine := range []bool{false, true} {
					q := schedule.Quotas(rule, masks, steps, 1e-3, cosine)
					sum := 0
					for _, n := range q {
						sum += n
					}
					if sum != masks || len(q) > steps || len(q) > 0 && (slices.Min(q) < 0 || rule == schedule.RoundDLLM && slices.Min(q) == 0) || rule != schedule.RoundDLLM && len(q) != steps {
						t.Fatalf("%s: %d masks in %d steps: %v", rule, masks, steps, q)
					}
				}
			}
		}
	}
}
