package verify

import (
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/builtin"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
)

// TestPrecisions checks the statements of docs/precision.md about the built-in network for each
// type: float16, in which its weights are stored, loses nothing.
func TestPrecisions(t *testing.T) {
	open := func(d graph.Dtype) model.Model {
		m, err := model.Open(t.Context(), "fairytale", model.Options{Dtype: d, Runtime: orttest.OneThread, Builtins: []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}})
		orttest.Opened(t, m, err)
		return m
	}
	reference := open(graph.Float32)
	var ws []likelihood.Target
	for i := range 4 {
		ids := make([]int, 64)
		for l := range ids {
			ids[l] = (l*l*37 + i*911) % 2048
		}
		ws = append(ws, likelihood.Whole(ids))
	}
	for d, kl := range map[graph.Dtype][2]float64{graph.Float16: {0, 1e-9}, graph.Int8: {5e-5, 2e-3}, graph.Int4: {2e-3, 5e-2}} {
		if d == graph.Int8 && !graph.Exact8() {
			continue // The type is rejected here.
		}
		m := open(d)
		if o := m.(model.Describer).Origin(); o.Dtype != string(d) || o.Facts.Dtype != string(d) || o.Digest != reference.Facts().Digest {
			t.Errorf("%s: a record would say %s, %s, %s", d, o.Dtype, o.Facts.Dtype, o.Digest)
		}
		out := reftest.Must(Against(t.Context(), m, reference, ws, AgainstConfig{Seed: 5, Draws: 4}))(t)
		if got := out.All.KL.Mean; got < kl[0] || got > kl[1] {
			t.Errorf("%s: mean KL %.3g, want %g to %g", d, got, kl[0], kl[1])
		}
	}
}
