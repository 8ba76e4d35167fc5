// Package checkpointtest makes small checkpoints for tests: the bytes of
// safetensors files, and folders of random weights for any config.
package checkpointtest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing/fstest"

	"mdmgen/internal/half"
	"mdmgen/model/checkpoint"
)

// Encode returns a safetensors file of tensors, in the order given. Their Data is written
// unchanged.
func Encode(metadata map[string]string, tensors ...checkpoint.Tensor) []byte {
	header := map[string]any{}
	if metadata != nil {
		header["__metadata__"] = metadata
	}
	at := 0
	for _, t := range tensors {
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		header[t.Name] = map[string]any{"dtype": t.Dtype, "shape": shape, "data_offsets": [2]int{at, at + len(t.Data)}}
		at += len(t.Data)
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	b = append(b, text...)
	for _, t := range tensors {
		b = append(b, t.Data...)
	}
	return b
}

// Tensor returns a tensor with values v, rounded to dtype: F32, F16 or BF16.
func Tensor(name string, dtype checkpoint.Dtype, v []float32, shape ...int) checkpoint.Tensor {
	t := checkpoint.Tensor{Name: name, Dtype: dtype, Shape: shape}
	for _, x := range v {
		switch dtype {
		case checkpoint.F32:
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(x))
		case checkpoint.BF16:
			t.Data = binary.LittleEndian.AppendUint16(t.Data, half.ToBFloat16(x))
		case checkpoint.F16:
			t.Data = binary.LittleEndian.AppendUint16(t.Data, half.ToFloat16(x))
		default:
			panic("checkpointtest: dtype " + string(dtype))
		}
	}
	return t
}

// Folder returns a checkpoint with the given config.json and random weights, whose names begin with
// prefix. It panics for an invalid config.
func Folder(config, prefix string, dtype checkpoint.Dtype, seed uint64) fstest.MapFS {
	c, err := checkpoint.ParseConfig([]byte(config))
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var tensors []checkpoint.Tensor
	embedding := c.Embedding()
	for s := range c.Tensors() {
		n, fan := 1, s.Shape[len(s.Shape)-1]
		for _, d := range s.Shape {
			n *= d
		}
		v := make([]float32, n)
		for i := range v {
			switch {
			case s.Name == embedding:
				v[i] = float32(r.NormFloat64())
			case len(s.Shape) == 1:
				v[i] = float32(0.5 + 0.2*r.NormFloat64())
			default:
				v[i] = float32(r.NormFloat64() / math.Sqrt(float64(fan)))
			}
		}
		tensors = append(tensors, Tensor(prefix+s.Name, dtype, v, s.Shape...))
	}
	return fstest.MapFS{
		"config.json":       {Data: []byte(config)},
		"model.safetensors": {Data: Encode(nil, tensors...)},
	}
}
