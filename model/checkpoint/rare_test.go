package checkpoint_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// Files that torch and safetensors write in rare ways (tools/reference/torch_files.py) hold the
// same tensors as those written in the usual way.
func TestRareFiles(t *testing.T) {
	folder := reftest.Data(t, "torch")
	open := func(name string) *checkpoint.File {
		f, err := checkpoint.OpenFile(filepath.Join(folder, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	want := open("want.safetensors")
	names := []string{
		"tied.safetensors", "views.bin", "odd.bin", "attributes.bin", "model_state_dict.pt", "module.pt", "subclass.pt",
		"numpy4.pt", "numpy5.pt", "protocol1.pt", "legacy3.bin", "legacy4.bin", "legacy5.bin",
	}
	for _, name := range names {
		f := open(name)
		if f == nil {
			continue
		}
		for _, tensor := range want.Names() {
			a, ok := f.Tensor(tensor)
			b, _ := want.Tensor(tensor)
			if !ok || a.Dtype != b.Dtype || !slices.Equal(a.Shape, b.Shape) || !bytes.Equal(a.Data, b.Data) {
				t.Errorf("%s: %s is %v %v (%t), want %v %v with other bytes", name, tensor, a.Dtype, a.Shape, ok, b.Dtype, b.Shape)
			}
		}
	}
	if x, _ := open("negated.bin").Tensor("block.bias"); x.Dtype != checkpoint.Negated {
		t.Errorf("a negated view is %s", x.Dtype)
	}
}
