package ort

import (
	"fmt"

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

// walk calls visit with a message and all messages in it, each before its parts.
func walk(kind messageType, data []byte, depth int, visit func(kind messageType, data []byte) error) error {
	if depth > maxNested {
		return fmt.Errorf("messages are nested more than %d deep", maxNested)
	}
	if err := visit(kind, data); err != nil {
		return err
	}
	return fields(data, func(n protowire.Number, v []byte, _ uint64) error {
		part, ok := parts[kind][n]
		if !ok {
			return nil
		}
		return walk(part, v, depth+1, visit)
	})
}

// fields calls f for each field of a message: with v for a field of bytes, with x for a number.
func fields(data []byte, f func(n protowire.Number, v []byte, x uint64) error) error {
	for len(data) > 0 {
		n, t, k := protowire.ConsumeTag(data)
		if k < 0 {
			return errNoModel
		}
		data = data[k:]
		var v []byte
		var x uint64
		switch t {
		case protowire.BytesType:
			v, k = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			x, k = protowire.ConsumeVarint(data)
		default:
			k = protowire.ConsumeFieldValue(n, t, data)
		}
		if k < 0 {
			return errNoModel
		}
		if err := f(n, v, x); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

// pair reads a StringStringEntryProto.
func pair(data []byte) (key, value string, err error) {
	err = fields(data, func(n protowire.Number, v []byte, _ uint64) error {
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
