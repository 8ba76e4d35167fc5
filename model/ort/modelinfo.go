package ort

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/model/internal/onnxpb"
)

// A Description is what a model file states about itself.
type Description struct {
	Inputs, Outputs []IO
	Metadata        map[string]string
	// Weights are the element types of the constants, sorted.
	Weights []string
	// Apart says why rows depend on all texts of a call, so that a text must be asked by itself; "" if
	// they do not.
	Apart string
	loops []string // the nodes with loops
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

// readModel reads the description in an ONNX file. The binding would load the model a second time
// for it; readModel skips the weights.
func readModel(data []byte) (d Description, err error) {
	r := new(onnxpb.Reader)
	graphs, metadata := r.Model(data)
	if r.Err == nil && len(graphs) != 1 {
		r.Err = onnxpb.ErrNoModel
	}
	for _, g := range graphs {
		d = describe(g)
	}
	d.Metadata = metadata
	for node := range r.Nodes(data) {
		if r.Err = d.checkNode(node); r.Err != nil {
			break
		}
	}
	if r.Err != nil {
		return Description{}, r.Err
	}
	if len(d.Inputs) == 0 || len(d.Outputs) == 0 {
		return Description{}, fmt.Errorf("it has %d inputs and %d outputs: a network needs both", len(d.Inputs), len(d.Outputs))
	}
	return d, nil
}

func describe(g onnxpb.Graph) (d Description) {
	constants, types := map[string]bool{}, map[string]bool{}
	for _, t := range g.Constants {
		constants[t.Name], types[t.Type] = true, true
	}
	delete(types, "undefined")
	// Old files list their weights among the inputs.
	d.Inputs = slices.DeleteFunc(g.Inputs, func(in IO) bool { return constants[in.Name] })
	d.Outputs, d.Weights = g.Outputs, slices.Sorted(maps.Keys(types))
	return d
}

// maxNamed is the most nodes that a message names.
const maxNamed = 8

func nodeList(nodes []string) string {
	named := nodes[:min(len(nodes), maxNamed)]
	if more := len(nodes) - len(named); more > 0 {
		named = append(slices.Clone(named), fmt.Sprintf("%d more", more))
	}
	return english.OxfordWordSeries(named, "and")
}

// random are the operators that draw random numbers: their rows differ from call to call.
var random = []string{"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}

// checkNode rejects a node that draws at random, and records loops and scales.
func (d *Description) checkNode(n onnxpb.Node) error {
	is := cmp.Or(n.Name, n.Operator)
	if !strings.Contains(is, n.Operator) {
		is += " (" + n.Operator + ")"
	}
	if trains := n.Operator == "Dropout" && len(n.Inputs) > 2 && n.Inputs[2] != ""; trains || slices.Contains(random, n.Operator) {
		return fmt.Errorf("node %s draws at random, so no row could be recomputed: export the network for inference, without it", is)
	}
	if n.Operator == "Loop" {
		d.loops = append(d.loops, is)
	}
	switch {
	case strings.HasPrefix(n.Operator, "DynamicQuantize"): // …Linear, …MatMul, …LSTM
		d.Apart = "quantizes with one scale for all texts of a call"
	case n.Operator == "MoE" || n.Operator == "QMoE":
		d.Apart = "computes experts for all texts of a call together, which rounds otherwise"
	}
	return nil
}
