package ort

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"mdmgen/model/internal/onnxpb"
)

// maxExternal bounds the files of one model; files of 1 GB would total 64 TB.
const maxExternal = 1 << 16

// External lists the files of external data that an ONNX file names in initializers, attributes,
// subgraphs and functions: as written there, sorted, without duplicates. They should be relative to
// the file's folder; External does not check that.
func External(path string) (names []string, err error) {
	err = mapped(path, func(data []byte) (err error) {
		names, err = outside(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("onnx session: %s: %w", path, err)
	}
	return names, nil
}

// outside lists the files outside of a model that its tensors name.
func outside(model []byte) ([]string, error) {
	r, found := new(onnxpb.Reader), map[string]bool{}
	for file := range r.Outside(model) {
		if found[file] = true; r.Err == nil && len(found) > maxExternal {
			r.Err = errors.New("too many files of external data")
		}
	}
	return slices.Sorted(maps.Keys(found)), r.Err
}
