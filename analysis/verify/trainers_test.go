package verify

import (
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
)

// TestTrainersFiles checks that files of MDLM's trainer, as Lightning saved them on a GPU with a
// config of omegaconf and as plain dicts, give the public code's results with either set of
// weights, and that RADD's torch file gives the same as its safetensors.
func TestTrainersFiles(t *testing.T) {
	compare := func(golden string, w checkpoint.Weights, ref string) {
		t.Helper()
		m, err := model.Open(t.Context(), ref, model.Options{Weights: w, Runtime: orttest.OneThread})
		orttest.Opened(t, m, err)
		r, err := Golden(t.Context(), m, golden, goldenLimit)
		if err != nil || !r.OK || len(r.Items) < 5 {
			t.Errorf("%s, %q: %d items, %v: %+v", ref, w, len(r.Items), err, r.Items)
		}
	}
	for _, folder := range []string{"mdlm-lightning", "mdlm-lightning-timecond"} {
		golden := reftest.Shared(t, "reference", "checkpoints", folder, "golden.safetensors")
		for _, file := range []string{"plain.ckpt", "omegaconf.ckpt"} {
			for _, w := range []checkpoint.Weights{"", checkpoint.EMA, checkpoint.Raw} {
				compare(golden, w, reftest.Shared(t, "reference", "checkpoints", folder, file))
			}
		}
	}
	dir := reftest.Shared(t, "reference", "checkpoints", "radd-bin")
	compare(dir+"/golden.safetensors", "", dir)
}
