package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
)

// TestTwoCopies compares rows of noisy texts with clean copies, as BD3-LM's code computes them, and
// checks that another clean copy is detected.
func TestTwoCopies(t *testing.T) {
	t.Parallel()
	dir := reftest.Checkpoint(t, "bd3lm")
	f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "block-golden.safetensors")))(t)
	defer f.Close()
	m, err := model.Open(t.Context(), dir, model.Options{Dtype: graph.Float32})
	orttest.Need(t, err)
	reftest.OK(t, err)
	defer m.Close()
	var tensors []checkpoint.Tensor
	for _, name := range f.Names() {
		if strings.HasPrefix(name, "input_ids.") || strings.HasPrefix(name, "logits.") {
			x, _ := f.Tensor(name)
			tensors = append(tensors, x)
		}
	}
	path := filepath.Join(t.TempDir(), "golden.safetensors")
	compare := func() Report {
		reftest.OK(t, os.WriteFile(path, checkpointtest.Encode(nil, tensors...), 0o600))
		return reftest.Must(Golden(t.Context(), m, path, goldenLimit))(t)
	}
	if r := compare(); !r.OK || len(r.Items) != 4 {
		t.Errorf("%+v", r)
	}
	ids := &tensors[0] // three texts, int64
	ids.Data = append([]byte(nil), ids.Data...)
	ids.Data[8*ids.Shape[1]/2]++ // the first of the clean copy
	if r := compare(); r.OK || r.Items[0].OK || !r.Items[1].OK {
		t.Errorf("another clean copy: %+v", r)
	}
}

// TestTwoLaws compares rows of blocks, causal rows and causal likelihoods, and checks that a block that
// begins elsewhere is detected.
func TestTwoLaws(t *testing.T) {
	t.Parallel()
	dir := reftest.Reference(t, "nemotron", "nemotron-plain")
	f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "nemotron-golden.safetensors")))(t)
	defer f.Close()
	m, err := model.Open(t.Context(), dir, model.Options{Dtype: graph.Float32, Runtime: orttest.OneThread})
	orttest.Need(t, err)
	reftest.OK(t, err)
	defer m.Close()
	if r := reftest.Must(Golden(t.Context(), m, filepath.Join(dir, "nemotron-golden.safetensors"), goldenLimit))(t); !r.OK || len(r.Items) != 12 {
		t.Errorf("%+v", r)
	}
	ids, _ := f.Tensor("causal_ids.1")
	logits, _ := f.Tensor("causal_logits.1")
	ids.Name, logits.Name = "input_ids.1", "logits.1" // as if it were a block
	path := filepath.Join(t.TempDir(), "golden.safetensors")
	reftest.OK(t, os.WriteFile(path, checkpointtest.Encode(nil, ids, logits), 0o600))
	if r := reftest.Must(Golden(t.Context(), m, path, goldenLimit))(t); r.OK {
		t.Errorf("causal rows are those of a block: %+v", r)
	}
}
