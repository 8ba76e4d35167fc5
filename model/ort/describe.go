package ort

import (
	"fmt"
	"maps"
	"slices"
)

// A Description is what a model tells of itself without being opened.
type Description struct {
	Inputs, Outputs []IO
	Metadata        map[string]string
	// Weights are the element types of the constants, sorted.
	Weights []string
}

// Describe reads inputs, outputs and metadata of a model. It needs no runtime
// and skips the weights.
func Describe(src Source) (Description, error) {
	name, info, err := src.read()
	if err != nil {
		return Description{}, err
	}
	if len(info.outputs) == 0 {
		return Description{}, fmt.Errorf("onnx session: %s: it has no outputs", name)
	}
	return Description{cloneIO(info.inputs), cloneIO(info.outputs), maps.Clone(info.metadata), slices.Sorted(maps.Keys(info.weights))}, nil
}

// Input returns the input of a name.
func (d Description) Input(name string) (IO, bool) { return named(d.Inputs, name) }

// Output returns the output of a name.
func (d Description) Output(name string) (IO, bool) { return named(d.Outputs, name) }

func named(ios []IO, name string) (IO, bool) {
	i := slices.IndexFunc(ios, func(io IO) bool { return io.Name == name })
	if i < 0 {
		return IO{}, false
	}
	return ios[i], true
}
