package graph

import (
	"math"
	"testing"
)

// Networks that compute in float16 have the rows of public implementations in float32 up to five
// thousandths of the greatest logit. The CPU has few float16 kernels: it computes most operators in
// float32 between roundings to float16, and for some networks the runtime drops these roundings, so
// that they are not tested here.
func TestHalf(t *testing.T) {
	rounded := 0
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			c := published(t, g.name)
			half, stored := built(t, c, Options{Dtype: Float16, GPU: true}), built(t, c, Options{Dtype: Float16})
			worst, most, apart := 0.0, 0.0, 0.0
			for _, one := range goldenCases(t, g.name)[:2] {
				one.positions = everywhere(one.rows, one.length)
				rows := one.run(t, half)
				worst, apart = max(worst, distance(t, rows, one.logits)), max(apart, distance(t, rows, one.run(t, stored)))
				for _, x := range one.logits {
					most = max(most, math.Abs(float64(x)))
				}
			}
			t.Logf("logits up to %.3g differ by %.3g", most, worst)
			if worst > 5e-3*most {
				t.Errorf("logits up to %.3g differ by %.3g", most, worst)
			}
			if apart > 0 {
				rounded++
			}
		})
	}
	if rounded < len(golden)/2 {
		t.Errorf("of %d networks %d are computed in float16", len(golden), rounded)
	}
}
