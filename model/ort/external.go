package ort

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// holder is a type of message of onnx.proto that may hold tensors.
type holder int

const (
	aModel holder = iota
	aGraph
	aTraining
	aFunction
	aNode
	anAttribute
	aSparseTensor
	aTensor
)

// parts are the fields of each type that lead to tensors, by their numbers in onnx.proto.
var parts = [...]map[protowire.Number]holder{
	aModel:        {7: aGraph, 20: aTraining, 25: aFunction},
	aGraph:        {1: aNode, 5: aTensor, 15: aSparseTensor},
	aTraining:     {1: aGraph, 2: aGraph},
	aFunction:     {7: aNode, 11: anAttribute},
	aNode:         {5: anAttribute},
	anAttribute:   {5: aTensor, 6: aGraph, 10: aTensor, 11: aGraph, 22: aSparseTensor, 23: aSparseTensor},
	aSparseTensor: {1: aTensor, 2: aTensor},
	aTensor:       {},
}

const (
	tensorExternal = 13 // TensorProto.external_data, pairs of a key and a value
	// maxNested is how deep messages may stand in one another: what protocol buffers allow.
	maxNested = 100
	// maxExternal bounds the files of one model; 1 GB each would make 64 TB.
	maxExternal = 1 << 16
)

// External lists the files of external data that an ONNX file names, in initializers,
// attributes, subgraphs and functions alike: as they stand there, sorted, each once. They
// are meant to be relative to the file's folder, which is not checked here.
func External(path string) ([]string, error) {
	found := map[string]bool{}
	if err := mapped(path, func(data []byte) error { return outside(aModel, data, 0, found) }); err != nil {
		return nil, fmt.Errorf("onnx session: %s: %w", path, err)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// outside adds the files that a message names to found.
func outside(kind holder, data []byte, depth int, found map[string]bool) error {
	if depth > maxNested {
		return fmt.Errorf("messages stand in one another more than %d deep", maxNested)
	}
	return fields(data, func(n protowire.Number, v []byte, _ uint64) error {
		if part, ok := parts[kind][n]; ok {
			return outside(part, v, depth+1, found)
		}
		if kind != aTensor || n != tensorExternal {
			return nil
		}
		key, value, err := pair(v)
		if key == "location" {
			found[value] = true
		}
		if err == nil && len(found) > maxExternal {
			err = errors.New("more files of external data than a model has")
		}
		return err
	})
}
