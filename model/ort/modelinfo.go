package ort

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	d, r, graphs := Description{Metadata: map[string]string{}}, new(reader), 0
	for n, v := range r.fields(data) {
		switch n {
		case modelGraph:
			graphs++
			d.readGraph(r, v.bytes)
		case modelMetadata:
			key, text := r.pair(v.bytes)
			d.Metadata[key] = text
		}
	}
	if r.err == nil && graphs != 1 {
		r.err = errNoModel
	}
	for node := range r.each(aNode, data) {
		d.checkNode(r, node)
	}
	if r.err != nil {
		return Description{}, r.err
	}
	if len(d.Inputs) == 0 || len(d.Outputs) == 0 {
		return Description{}, fmt.Errorf("it has %d inputs and %d outputs: a network needs both", len(d.Inputs), len(d.Outputs))
	}
	return d, nil
}

func (d *Description) readGraph(r *reader, graph []byte) {
	constants, types := map[string]bool{}, map[string]bool{}
	for n, v := range r.fields(graph) {
		switch n {
		case graphInitializer:
			for n, v := range r.fields(v.bytes) {
				switch {
				case n == tensorName:
					constants[string(v.bytes)] = true
				case n == tensorType && v.x < uint64(len(elementTypes)):
					types[elementTypes[v.x]] = true
				}
			}
		case graphInput:
			d.Inputs = append(d.Inputs, r.io(v.bytes))
		case graphOutput:
			d.Outputs = append(d.Outputs, r.io(v.bytes))
		}
	}
	// Old files list their weights among the inputs.
	d.Inputs = slices.DeleteFunc(d.Inputs, func(in IO) bool { return constants[in.Name] })
	d.Weights = slices.Sorted(maps.Keys(types))
}

// readValue appends the IO of a ValueInfoProto.
func (r *reader) io(data []byte) IO {
	out := IO{Type: elementTypes[0]}
	for n, v := range r.fields(data) {
		switch n {
		case valueName:
			out.Name = string(v.bytes)
		case valueType:
			for n, v := range r.fields(v.bytes) {
				if n == typeTensor {
					r.tensorType(v.bytes, &out)
				}
			}
		}
	}
	return out
}

// tensorType reads a TypeProto.Tensor.
func (r *reader) tensorType(data []byte, to *IO) {
	for n, v := range r.fields(data) {
		switch {
		case n == tensorElem && v.x < uint64(len(elementTypes)):
			to.Type = elementTypes[v.x]
		case n == tensorShape:
			to.Shape = []int64{}
			for n, v := range r.fields(v.bytes) {
				if n == shapeDim {
					to.Shape = append(to.Shape, r.dimension(v.bytes))
				}
			}
		}
	}
}

// dimension reads a TensorShapeProto.Dimension, −1 for one of any size.
func (r *reader) dimension(data []byte) int64 {
	size := int64(-1)
	for n, v := range r.fields(data) {
		if n == dimValue && int64(v.x) >= 0 {
			size = int64(v.x)
		}
	}
	return size
}
