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

// elementType returns the name of a TensorProto.DataType, undefined for none that is known.
func elementType(number int64) string {
	if number < 0 || number >= int64(len(elementTypes)) {
		number = 0
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

// all yields the fields with a number, or with a path of numbers through messages.
func (r *Reader) all(data []byte, path ...protowire.Number) iter.Seq[field] {
	return func(yield func(field) bool) {
		for n, v := range r.fields(data) {
			if n != path[0] {
				continue
			}
			if len(path) == 1 {
				if !yield(v) {
					return
				}
				continue
			}
			for part := range r.all(v.bytes, path[1:]...) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// last returns the last of the fields that all yields, which is the one that counts; the zero field if
// there is none.
func (r *Reader) last(data []byte, path ...protowire.Number) (v field) {
	for v = range r.all(data, path...) {
	}
	return v
}

func (r *Reader) text(data []byte, number protowire.Number) string {
	return string(r.last(data, number).bytes)
}

// Nodes yields the nodes of a model, at any depth.
func (r *Reader) Nodes(model []byte) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		r.walk(aNode, aModel, model, 0, func(data []byte) bool {
			n := Node{Name: r.text(data, 3), Operator: r.text(data, 4)}
			for in := range r.all(data, 1) {
				n.Inputs = append(n.Inputs, string(in.bytes))
			}
			return r.Err == nil && yield(n)
		})
	}
}

// Outside yields the names of the files outside of a model that its tensors are in, at any depth.
func (r *Reader) Outside(model []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		r.walk(aTensor, aModel, model, 0, func(data []byte) bool {
			for pair := range r.all(data, 13) {
				if r.text(pair.bytes, 1) == "location" && !yield(r.text(pair.bytes, 2)) {
					return false
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

// Model reads a ModelProto: its graphs, of which a model has one, and its metadata.
func (r *Reader) Model(data []byte) (graphs []Graph, metadata map[string]string) {
	metadata = map[string]string{}
	for pair := range r.all(data, 14) {
		metadata[r.text(pair.bytes, 1)] = r.text(pair.bytes, 2)
	}
	for graph := range r.all(data, 7) {
		g := Graph{Inputs: r.values(graph.bytes, 11), Outputs: r.values(graph.bytes, 12)}
		for t := range r.all(graph.bytes, 5) {
			g.Constants = append(g.Constants, Tensor{r.text(t.bytes, 8), elementType(r.last(t.bytes, 2).x)})
		}
		graphs = append(graphs, g)
	}
	return graphs, metadata
}

// A Graph is a GraphProto without its nodes.
type Graph struct {
	Constants       []Tensor
	Inputs, Outputs []Value
}

// A Node is a NodeProto: its name, its operator, and the names of its inputs.
type Node struct {
	Name, Operator string
	Inputs         []string
}

// A Tensor is a TensorProto: its name and the type of its elements.
type Tensor struct{ Name, Type string }

// A Value is an input or output of a graph.
type Value struct {
	Name string `json:"name"`
	// Type is the element type: "int64", "float32", "float16" and so on.
	Type string `json:"type"`
	// Shape has −1 for a dimension of any size. It is nil if the model does not give even the rank.
	Shape []int64 `json:"shape"`
}

// values reads the ValueInfoProtos of a graph with a number.
func (r *Reader) values(graph []byte, number protowire.Number) (out []Value) {
	for value := range r.all(graph, number) {
		v := Value{Name: r.text(value.bytes, 1), Type: elementType(r.last(value.bytes, 2, 1, 1).x)}
		for shape := range r.all(value.bytes, 2, 1, 2) {
			v.Shape = []int64{}
			for dimension := range r.all(shape.bytes, 1) {
				size := int64(-1)
				for n := range r.all(dimension.bytes, 1) {
					size = max(n.x, -1)
				}
				v.Shape = append(v.Shape, size)
			}
		}
		out = append(out, v)
	}
	return out
}
