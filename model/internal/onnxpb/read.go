package onnxpb

import (
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrNoModel is the error of bytes that are no message.
var ErrNoModel = errors.New("it is not an ONNX model")

// A messageType is a type of message in onnx.proto that may contain nodes or tensors.
type messageType int

const (
	aModel messageType = iota
	aGraph
	aTraining
	aFunction
	aNode
	anAttribute
	aSparseTensor
	aTensor
)

// parts are the fields of each type that lead to nodes or tensors, by their numbers in onnx.proto.
var parts = map[messageType]map[protowire.Number]messageType{
	aModel:        {7: aGraph, 20: aTraining, 25: aFunction},
	aGraph:        {1: aNode, 5: aTensor, 15: aSparseTensor},
	aTraining:     {1: aGraph, 2: aGraph},
	aFunction:     {7: aNode, 11: anAttribute},
	aNode:         {5: anAttribute},
	anAttribute:   {5: aTensor, 6: aGraph, 10: aTensor, 11: aGraph, 22: aSparseTensor, 23: aSparseTensor},
	aSparseTensor: {1: aTensor, 2: aTensor},
}

// maxNested is the maximum depth of nested messages, the limit of protocol buffers.
const maxNested = 100

// elementTypes are the names of TensorProto.DataType.
var elementTypes = [...]string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
	"float16", "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16"}

// elementType returns the name of a TensorProto.DataType, or the text for none that is known.
func elementType(number int64, unknown string) string {
	if number < 0 || number >= int64(len(elementTypes)) {
		return unknown
	}
	return elementTypes[number]
}

// A Reader reads messages and keeps the first fault, after which it yields nothing.
type Reader struct{ Err error }

// A field is the content of a field: bytes or a number.
type field struct {
	bytes []byte
	x     int64
}

// fields yields the fields of a message.
func (r *Reader) fields(data []byte) iter.Seq2[protowire.Number, field] {
	return func(yield func(protowire.Number, field) bool) {
		for rest := data; len(rest) > 0 && r.Err == nil; {
			var v field
			n, t, k := protowire.ConsumeTag(rest)
			if k > 0 {
				rest = rest[k:]
				switch t {
				case protowire.BytesType:
					v.bytes, k = protowire.ConsumeBytes(rest)
				case protowire.VarintType:
					var x uint64
					x, k = protowire.ConsumeVarint(rest)
					v.x = int64(x)
				default:
					k = protowire.ConsumeFieldValue(n, t, rest)
				}
			}
			if k < 0 {
				r.Err = ErrNoModel
				return
			}
			if rest = rest[k:]; !yield(n, v) {
				return
			}
		}
	}
}

// Nodes yields the nodes of a model, at any depth.
func (r *Reader) Nodes(model []byte) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		r.walk(aNode, aModel, model, 0, func(data []byte) bool {
			n := r.node(data)
			return r.Err == nil && yield(n)
		})
	}
}

// Outside yields the names of the files outside of a model that its tensors are in, at any depth.
func (r *Reader) Outside(model []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		r.walk(aTensor, aModel, model, 0, func(data []byte) bool {
			for n, v := range r.fields(data) {
				if n == 13 {
					if key, file := r.pair(v.bytes); key == "location" && !yield(file) {
						return false
					}
				}
			}
			return true
		})
	}
}

// walk yields the wanted messages in a message of type kind. It returns false if iteration ended.
func (r *Reader) walk(want, kind messageType, data []byte, depth int, yield func([]byte) bool) bool {
	if depth > maxNested {
		r.Err = fmt.Errorf("messages are nested more than %d deep", maxNested)
	}
	if r.Err != nil || kind == want && !yield(data) {
		return false
	}
	for n, v := range r.fields(data) {
		if part, ok := parts[kind][n]; ok && !r.walk(want, part, v.bytes, depth+1, yield) {
			return false
		}
	}
	return true
}

// Model reads a ModelProto: it calls graph for each graph, of which a model has one, and returns the
// metadata.
func (r *Reader) Model(data []byte, graph func([]byte)) map[string]string {
	metadata := map[string]string{}
	for n, v := range r.fields(data) {
		switch n {
		case 7:
			graph(v.bytes)
		case 14:
			key, text := r.pair(v.bytes)
			metadata[key] = text
		}
	}
	return metadata
}

// A Visitor is called for the parts of a graph, as they come; it need not have all functions.
type Visitor struct {
	Constant      func(Tensor)
	Input, Output func(Value)
}

// Graph reads a GraphProto.
func (r *Reader) Graph(data []byte, v Visitor) {
	for n, part := range r.fields(data) {
		switch {
		case n == 5 && v.Constant != nil:
			v.Constant(r.tensor(part.bytes))
		case n == 11 && v.Input != nil:
			v.Input(r.value(part.bytes))
		case n == 12 && v.Output != nil:
			v.Output(r.value(part.bytes))
		}
	}
}

// A Node is a NodeProto: its name, its operator, and the names of its inputs.
type Node struct {
	Name, Operator string
	Inputs         []string
}

func (r *Reader) node(data []byte) (out Node) {
	for n, v := range r.fields(data) {
		switch n {
		case 1:
			out.Inputs = append(out.Inputs, string(v.bytes))
		case 3:
			out.Name = string(v.bytes)
		case 4:
			out.Operator = string(v.bytes)
		}
	}
	return out
}

// A Tensor is a TensorProto: its name and the type of its elements, "" if it is not known.
type Tensor struct{ Name, Type string }

func (r *Reader) tensor(data []byte) (out Tensor) {
	for n, v := range r.fields(data) {
		switch n {
		case 2:
			out.Type = elementType(v.x, "")
		case 8:
			out.Name = string(v.bytes)
		}
	}
	return out
}

// A Value is an input or output of a graph.
type Value struct {
	Name string `json:"name"`
	// Type is the element type: "int64", "float32", "float16" and so on.
	Type string `json:"type"`
	// Shape has −1 for a dimension of any size. It is nil if the model does not give even the rank.
	Shape []int64 `json:"shape"`
}

// value reads a ValueInfoProto.
func (r *Reader) value(data []byte) Value {
	out := Value{Type: elementTypes[0]}
	for n, v := range r.fields(data) {
		switch n {
		case 1:
			out.Name = string(v.bytes)
		case 2:
			for n, v := range r.fields(v.bytes) {
				if n == 1 {
					r.tensorType(v.bytes, &out)
				}
			}
		}
	}
	return out
}

// tensorType reads a TypeProto.Tensor.
func (r *Reader) tensorType(data []byte, to *Value) {
	for n, v := range r.fields(data) {
		switch n {
		case 1:
			to.Type = elementType(v.x, to.Type)
		case 2:
			to.Shape = []int64{}
			for n, v := range r.fields(v.bytes) {
				if n == 1 {
					to.Shape = append(to.Shape, r.dimension(v.bytes))
				}
			}
		}
	}
}

// dimension reads a TensorShapeProto.Dimension, −1 for one of any size.
func (r *Reader) dimension(data []byte) int64 {
	size := int64(-1)
	for n, v := range r.fields(data) {
		if n == 1 && v.x >= 0 {
			size = v.x
		}
	}
	return size
}

// pair reads a StringStringEntryProto.
func (r *Reader) pair(data []byte) (key, text string) {
	for n, v := range r.fields(data) {
		switch n {
		case 1:
			key = string(v.bytes)
		case 2:
			text = string(v.bytes)
		}
	}
	return key, text
}
