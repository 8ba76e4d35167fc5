package causal

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"mdmgen/internal/reftest"
)

// TestLosses opens networks of transformers in the form of usual exports, with a cache and a mask,
// by their folder alone. They must give transformers' loss for each text, whatever else is in the
// call (tools/reference/causal.py). Logits of half precision have 11 bits.
func TestLosses(t *testing.T) {
	data := reftest.Must(os.ReadFile(reftest.Data(t, "causal", "losses.json")))(t)
	var golden struct {
		Texts       [][]int
		GPT2, Llama []float64
	}
	if err := json.Unmarshal(data, &golden); err != nil || len(golden.Texts) == 0 {
		t.Fatal(err)
	}
	windows := make([]Window, len(golden.Texts))
	for i, ids := range golden.Texts {
		windows[i] = Window{IDs: ids, From: 1}
	}
	for _, c := range []struct {
		name   string
		length int
		dtype  string
		loss   []float64
		limit  float64
	}{
		{"gpt2", 24, "float32", golden.GPT2, 1e-5},
		{"llama", 32, "float32", golden.Llama, 1e-5},
		{"gpt2-half", 24, "float16", golden.GPT2, 1e-2},
	} {
		m := reftest.Must(open(t, reftest.Data(t, "causal", c.name)))(t, c.name)
		if m.Length() != c.length || m.Origin().Dtype != c.dtype || m.Columns() != columns {
			t.Errorf("%s: %d tokens, %s, %d columns", c.name, m.Length(), m.Origin().Dtype, m.Columns())
		}
		logs := reftest.Must(m.LogProbs(context.Background(), windows))(t, c.name)
		worst := 0.0
		for i, want := range c.loss {
			var sum float64
			for _, x := range logs[i] {
				sum -= x / float64(len(logs[i]))
			}
			worst = max(worst, math.Abs(sum-want))
		}
		if !(worst <= c.limit) {
			t.Errorf("%s: losses differ by %.2g, want at most %g", c.name, worst, c.limit)
		}
		t.Logf("%s: losses differ by %.2g nats per token", c.name, worst)
		long := Window{IDs: make([]int, c.length+1), From: 1}
		reftest.Fails(t, reftest.Err(m.LogProbs(context.Background(), []Window{long})), "takes at most", c.name)
	}
}
