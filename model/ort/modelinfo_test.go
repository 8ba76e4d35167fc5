package ort

import (
	"bytes"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
)

// TestReadModel reads forms that old exporters write: weights among the inputs, an unknown rank, a
// scalar, a type that is not a tensor.
func TestReadModel(t *testing.T) {
	noShape := message{}.Text(1, "x").Bytes(2, message{}.Bytes(1, message{}.Int(1, onnxpb.Int64)))
	sequence := message{}.Text(1, "s").Bytes(2, message{}.Bytes(4, message{}))
	g := graph{
		inits: [][]byte{weights("w", []float32{1}, 1)},
		in:    [][]byte{noShape, port("w", onnxpb.Float, 1), port("one", onnxpb.Bool), sequence},
		out:   [][]byte{port("z", 99, 4)},
	}
	m := reftest.Must(readModel(g.bytes()))(t)
	if len(m.Inputs) != 3 || m.Inputs[0].Name != "x" || m.Inputs[0].Type != "int64" || m.Inputs[0].Shape != nil {
		t.Errorf("inputs %+v", m.Inputs)
	}
	if m.Inputs[1].Type != "bool" || m.Inputs[1].Shape == nil || len(m.Inputs[1].Shape) != 0 {
		t.Errorf("a scalar is %+v", m.Inputs[1])
	}
	if m.Inputs[2].Type != "undefined" || m.Outputs[0].Type != "undefined" {
		t.Errorf("types %+v, %+v", m.Inputs[2], m.Outputs[0])
	}
}

// FuzzReadModel checks that no bytes cause a panic, and that accepted models have names for
// everything that a session needs.
func FuzzReadModel(f *testing.F) {
	f.Add(adder())
	f.Add(linear(2, 1))
	f.Add(slow(3))
	f.Add([]byte{})
	f.Add([]byte{0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})
	f.Add([]byte("not a model"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m, err := readModel(data)
		if !bytes.Equal(before, data) {
			t.Error("the model was written")
		}
		if err != nil {
			if m.Inputs != nil || m.Outputs != nil {
				t.Error("a refused model has inputs")
			}
			return
		}
		if len(m.Inputs) == 0 || len(m.Outputs) == 0 {
			t.Error("a model without inputs or outputs was taken")
		}
		for _, io := range append(m.Inputs, m.Outputs...) {
			for _, d := range io.Shape {
				if d < -1 {
					t.Errorf("dimension %d", d)
				}
			}
		}
	})
}
