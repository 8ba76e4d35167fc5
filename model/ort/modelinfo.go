package ort

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Description is what a model file states about itself.
type Description struct {
	Inputs, Outputs []IO
	Metadata        map[string]string
	// Weights are the element types of the constants, sorted.
	Weights []string
	loops   []operation
}

// Describe reads the inputs, outputs and metadata of a model. It needs no runtime and skips the
// weights.
func Describe(src Source) (Description, error) {
	_, d, err := src.read()
	return d, err
}

// Input returns the input with the given name.
func (d Description) Input(name string) (IO, bool) { return named(d.Inputs, name) }

// Output returns the output with the given name.
func (d Description) Output(name string) (IO, bool) { return named(d.Outputs, name) }

func named(ios []IO, name string) (IO, bool) {
	i := slices.IndexFunc(ios, func(io IO) bool { return io.Name == name })
	if i < 0 {
		return IO{}, false
	}
	return ios[i], true
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

// readModel reads the description in an ONNX file. The binding would load the model a second time
// for it; readModel skips the weights.
func readModel(data []byte) (Description, error) {
	d := Description{Metadata: map[string]string{}}
	graphs := 0
	err := fields(data, func(n protowire.Number, v []byte, _ uint64) error {
		switch n {
		case modelGraph:
			graphs++
			return d.readGraph(v)
		case modelMetadata:
			key, value, err := pair(v)
			d.Metadata[key] = value
			return err
		}
		return nil
	})
	if err == nil && graphs != 1 {
		err = errNoModel
	}
	if err == nil {
		err = walk(aModel, data, 0, d.checkNode)
	}
	if err != nil {
		return Description{}, err
	}
	if len(d.Inputs) == 0 || len(d.Outputs) == 0 {
		return Description{}, fmt.Errorf("it has %d inputs and %d outputs: a network needs both", len(d.Inputs), len(d.Outputs))
	}
	return d, nil
}

func (d *Description) readGraph(graph []byte) error {
	constants, types := map[string]bool{}, map[string]bool{}
	err := fields(graph, func(n protowire.Number, v []byte, _ uint64) error {
		switch n {
		case graphInitializer:
			return fields(v, func(n protowire.Number, v []byte, x uint64) error {
				switch {
				case n == tensorName:
					constants[string(v)] = true
				case n == tensorType && x < uint64(len(elementTypes)):
					types[elementTypes[x]] = true
				}
				return nil
			})
		case graphInput:
			return readValue(v, &d.Inputs)
		case graphOutput:
			return readValue(v, &d.Outputs)
		}
		return nil
	})
	// Old files list their weights among the inputs.
	d.Inputs = slices.DeleteFunc(d.Inputs, func(in IO) bool { return constants[in.Name] })
	d.Weights = slices.Sorted(maps.Keys(types))
	return err
}

// readValue appends the IO of a ValueInfoProto.
func readValue(value []byte, to *[]IO) error {
	io := IO{Type: elementTypes[0]}
	err := fields(value, func(n protowire.Number, v []byte, _ uint64) error {
		switch n {
		case valueName:
			io.Name = string(v)
		case valueType:
			return fields(v, func(n protowire.Number, v []byte, _ uint64) error {
				if n != typeTensor {
					return nil
				}
				return fields(v, io.readType)
			})
		}
		return nil
	})
	*to = append(*to, io)
	return err
}

// readType reads a field of a TypeProto.Tensor.
func (io *IO) readType(n protowire.Number, v []byte, x uint64) error {
	switch {
	case n == tensorElem && x < uint64(len(elementTypes)):
		io.Type = elementTypes[x]
	case n == tensorShape:
		io.Shape = []int64{}
		return fields(v, func(n protowire.Number, v []byte, _ uint64) error {
			if n != shapeDim {
				return nil
			}
			size := int64(-1)
			err := fields(v, func(n protowire.Number, _ []byte, x uint64) error {
				if n == dimValue && int64(x) >= 0 {
					size = int64(x)
				}
				return nil
			})
			io.Shape = append(io.Shape, size)
			return err
		})
	}
	return nil
}
