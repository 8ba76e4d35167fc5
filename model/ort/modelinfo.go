package ort

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A modelInfo is what a model says of itself.
type modelInfo struct {
	inputs, outputs []IO
	metadata        map[string]string
	weights         map[string]bool // the element types of constants
}

// Field numbers of onnx.proto.
const (
	modelGraph, modelMetadata                                 = 7, 14
	graphInitializer, graphInput, graphOutput                 = 5, 11, 12
	valueName, valueType, typeTensor, tensorElem, tensorShape = 1, 2, 1, 1, 2
	shapeDim, dimValue                                        = 1, 1
	tensorType, tensorName                                    = 2, 8
)

// elementTypes are the names of TensorProto.DataType.
var elementTypes = [...]string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
	"float16", "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16"}

var errNoModel = errors.New("it is not an ONNX model")

// readModel reads inputs, outputs and metadata of an ONNX file. The binding can
// tell them only by loading the model a second time, so they are read here:
// weights are skipped, not read.
func readModel(data []byte) (modelInfo, error) {
	var m modelInfo
	graphs := 0
	m.metadata, m.weights = map[string]string{}, map[string]bool{}
	err := fields(data, func(n protowire.Number, v []byte) error {
		switch n {
		case modelGraph:
			graphs++
			return m.readGraph(v)
		case modelMetadata:
			key, value, err := pair(v)
			m.metadata[key] = value
			return err
		}
		return nil
	})
	if err != nil || graphs != 1 {
		return modelInfo{}, errNoModel
	}
	if len(m.inputs) == 0 || len(m.outputs) == 0 {
		return modelInfo{}, fmt.Errorf("it has %d inputs and %d outputs: a network needs both", len(m.inputs), len(m.outputs))
	}
	return m, nil
}

func (m *modelInfo) readGraph(graph []byte) error {
	constants := map[string]bool{}
	err := fields(graph, func(n protowire.Number, v []byte) error {
		switch n {
		case graphInitializer:
			if e, ok := varintField(v, tensorType); ok && e < uint64(len(elementTypes)) {
				m.weights[elementTypes[e]] = true
			}
			return fields(v, func(n protowire.Number, v []byte) error {
				if n == tensorName {
					constants[string(v)] = true
				}
				return nil
			})
		case graphInput, graphOutput:
			io, err := readValue(v)
			if err != nil {
				return err
			}
			if n == graphInput {
				m.inputs = append(m.inputs, io)
			} else {
				m.outputs = append(m.outputs, io)
			}
		}
		return nil
	})
	// Old files list their weights among the inputs.
	inputs := m.inputs[:0]
	for _, in := range m.inputs {
		if !constants[in.Name] {
			inputs = append(inputs, in)
		}
	}
	m.inputs = inputs
	return err
}

func readValue(value []byte) (IO, error) {
	io := IO{Type: elementTypes[0]}
	err := fields(value, func(n protowire.Number, v []byte) error {
		switch n {
		case valueName:
			io.Name = string(v)
		case valueType:
			return fields(v, func(n protowire.Number, v []byte) error {
				if n != typeTensor {
					return nil
				}
				return readTensorType(v, &io)
			})
		}
		return nil
	})
	return io, err
}

func readTensorType(data []byte, io *IO) error {
	if e, ok := varintField(data, tensorElem); ok && e < uint64(len(elementTypes)) {
		io.Type = elementTypes[e]
	}
	return fields(data, func(n protowire.Number, v []byte) error {
		if n != tensorShape {
			return nil
		}
		io.Shape = []int64{}
		return fields(v, func(n protowire.Number, v []byte) error {
			if n != shapeDim {
				return nil
			}
			size := int64(-1)
			if d, ok := varintField(v, dimValue); ok && int64(d) >= 0 {
				size = int64(d)
			}
			io.Shape = append(io.Shape, size)
			return nil
		})
	})
}

// fields calls f for each field of a message that holds bytes and checks the
// form of the others.
func fields(data []byte, f func(protowire.Number, []byte) error) error {
	for len(data) > 0 {
		n, t, k := protowire.ConsumeTag(data)
		if k < 0 {
			return errNoModel
		}
		data = data[k:]
		if t != protowire.BytesType {
			k = protowire.ConsumeFieldValue(n, t, data)
			if k < 0 {
				return errNoModel
			}
			data = data[k:]
			continue
		}
		v, k := protowire.ConsumeBytes(data)
		if k < 0 {
			return errNoModel
		}
		if err := f(n, v); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

// pair reads a StringStringEntryProto.
func pair(data []byte) (key, value string, err error) {
	err = fields(data, func(n protowire.Number, v []byte) error {
		switch n {
		case 1:
			key = string(v)
		case 2:
			value = string(v)
		}
		return nil
	})
	return key, value, err
}

// varintField returns the last value of a varint field of a message.
func varintField(data []byte, want protowire.Number) (value uint64, ok bool) {
	for len(data) > 0 {
		n, t, k := protowire.ConsumeTag(data)
		if k < 0 {
			return 0, false
		}
		data = data[k:]
		if n == want && t == protowire.VarintType {
			value, k = protowire.ConsumeVarint(data)
			ok = k >= 0
		} else {
			k = protowire.ConsumeFieldValue(n, t, data)
		}
		if k < 0 {
			return 0, false
		}
		data = data[k:]
	}
	return value, ok
}
