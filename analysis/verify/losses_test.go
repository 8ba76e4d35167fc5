package verify

import (
	"context"
	"errors"
	"os"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort"
)

// openModel opens a model, and skips where ONNX Runtime is neither found nor fetched.
func openModel(t *testing.T, ref string) model.Model {
	t.Helper()
	m, err := model.Open(context.Background(), ref, model.Options{})
	var missing *ort.MissingError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// TestLosses compares every loss of the public implementations, on the checkpoints
// that are always here.
func TestLosses(t *testing.T) {
	for name, items := range map[string]int{"mdlm": 2, "mdlm-timecond": 2, "radd": 7, "sedd": 2, "sedd-noscale": 2} {
		t.Run(name, func(t *testing.T) {
			path := reftest.Data(t, "reference", "likelihood", name+".json")
			m := openModel(t, reftest.Data(t, "reference", "checkpoints", name))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := losses(context.Background(), m, path, data, 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != items {
				t.Errorf("%d items, want %d", len(got), items)
			}
			for _, it := range got {
				t.Logf("%s: %d values, %.3g", it.Name, it.Count, float64(it.MaxDiff))
				if !it.OK {
					t.Errorf("%s: %+v", it.Name, it)
				}
			}
		})
	}
}
