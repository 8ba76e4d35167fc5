package ort

import (
	"bytes"
	"testing"
)

// TestReadModel reads what old exporters write: weights among the inputs, an
// unknown rank, a scalar, a type that is no tensor.
func TestReadModel(t *testing.T) {
	noShape := message{}.str(1, "x").sub(2, message{}.sub(1, message{}.num(1, elemInt64)))
	sequence := message{}.str(1, "s").sub(2, message{}.sub(4, message{}))
	g := graph{
		inits: [][]byte{weights("w", []float32{1}, 1)},
		in:    [][]byte{noShape, port("w", elemFloat32, 1), port("one", elemBool), sequence},
		out:   [][]byte{port("z", 99, 4)},
	}
	m, err := readModel(g.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.inputs) != 3 || m.inputs[0].Name != "x" || m.inputs[0].Type != "int64" || m.inputs[0].Shape != nil {
		t.Errorf("inputs %+v", m.inputs)
	}
	if m.inputs[1].Type != "bool" || m.inputs[1].Shape == nil || len(m.inputs[1].Shape) != 0 {
		t.Errorf("a scalar is %+v", m.inputs[1])
	}
	if m.inputs[2].Type != "undefined" || m.outputs[0].Type != "undefined" {
		t.Errorf("types %+v, %+v", m.inputs[2], m.outputs[0])
	}
}

// FuzzReadModel holds that no bytes panic, and that what is read has names for
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
			if m.inputs != nil || m.outputs != nil {
				t.Error("a refused model has inputs")
			}
			return
		}
		if len(m.inputs) == 0 || len(m.outputs) == 0 {
			t.Error("a model without inputs or outputs was taken")
		}
		for _, io := range append(m.inputs, m.outputs...) {
			for _, d := range io.Shape {
				if d < -1 {
					t.Errorf("dimension %d", d)
				}
			}
		}
	})
}

// FuzzProbe holds that no bytes panic and that a version is a plain word.
func FuzzProbe(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00\x01\x00\x00\x00"))
	f.Add([]byte("MZ\x90\x00"))
	f.Add([]byte{0xCF, 0xFA, 0xED, 0xFE, 0x0C, 0, 0, 1})
	f.Add([]byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 1})
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		version, err := probeImage(bytes.NewReader(data))
		if err != nil && version != "" {
			t.Errorf("version %q and %v", version, err)
		}
	})
}
