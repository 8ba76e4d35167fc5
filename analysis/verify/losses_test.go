package verify

import (
	"context"
	"errors"
	"testing"

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
