package ort

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	tensorExternal = 13 // TensorProto.external_data, pairs of a key and a value
	// maxExternal bounds the files of one model; files of 1 GB would total 64 TB.
	maxExternal = 1 << 16
)

// External lists the files of external data that an ONNX file names in initializers, attributes,
// subgraphs and functions: as written there, sorted, without duplicates. They should be relative to
// the file's folder; External does not check that.
func External(path string) ([]string, error) {
	found := outside{}
	if err := mapped(path, func(data []byte) error { return walk(aModel, data, 0, found.add) }); err != nil {
		return nil, fmt.Errorf("onnx session: %s: %w", path, err)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// outside is the set of files of external data.
type outside map[string]bool

// add adds the files that a tensor names.
func (found outside) add(kind messageType, data []byte) error {
	if kind != aTensor {
		return nil
	}
	return fields(data, func(n protowire.Number, v []byte, _ uint64) error {
		if n != tensorExternal {
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
