package model

import (
	"bytes"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
)

// With --dtype fp16 a network computes in float16 only if the requested device is a GPU.
func TestHalfIsForGPUs(t *testing.T) {
	t.Parallel()
	made := func(device string, d graph.Dtype) []byte {
		c := reftest.Must(checkpoint.Open(reftest.Checkpoint(t, "mdlm"), ""))(t)
		defer c.Close()
		src, _, _, err := source(t.Context(), "mdlm", c, Options{Dtype: d, Runtime: ort.Config{Device: device}})
		reftest.OK(t, err)
		return src.Bytes
	}
	stored := made("cpu", graph.Float16)
	if !bytes.Equal(made("auto", graph.Float16), stored) {
		t.Error("with --device auto float16 is not what it is on the CPU")
	}
	if bytes.Equal(made("cuda:1", graph.Float16), stored) {
		t.Error("on a GPU float16 is what it is on the CPU")
	}
}
