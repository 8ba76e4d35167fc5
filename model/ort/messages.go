package ort

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

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

// reader reads messages and keeps the first fault, after which it yields nothing.
type reader struct{ err error }

// value is the value of a field: bytes or a number.
type value struct {
	bytes []byte
	x     uint64
}

// fields yields the fields of a message.
func (r *reader) fields(data []byte) iter.Seq2[protowire.Number, value] {
	return func(yield func(protowire.Number, value) bool) {
		for rest := data; len(rest) > 0 && r.err == nil; {
			var v value
			n, t, k := protowire.ConsumeTag(rest)
			if k > 0 {
				rest = rest[k:]
				switch t {
				case protowire.BytesType:
					v.bytes, k = protowire.ConsumeBytes(rest)
				case protowire.VarintType:
					v.x, k = protowire.ConsumeVarint(rest)
				default:
					k = protowire.ConsumeFieldValue(n, t, rest)
				}
			}
			if k < 0 {
				r.err = errNoModel
				return
			}
			if rest = rest[k:]; !yield(n, v) {
				return
			}
		}
	}
}

// each yields the messages of a type in a model, at any depth.
func (r *reader) each(want messageType, model []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) { r.walk(want, aModel, model, 0, yield) }
}

// walk yields the wanted messages in a message of type kind. It returns false if iteration ended.
func (r *reader) walk(want, kind messageType, data []byte, depth int, yield func([]byte) bool) bool {
	if depth > maxNested {
		r.err = fmt.Errorf("messages are nested more than %d deep", maxNested)
	}
	if r.err != nil || kind == want && !yield(data) {
		return false
	}
	for n, v := range r.fields(data) {
		if part, ok := parts[kind][n]; ok && !r.walk(want, part, v.bytes, depth+1, yield) {
			return false
		}
	}
	return true
}

// pair reads a StringStringEntryProto.
func (r *reader) pair(data []byte) (key, text string) {
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
