package ort

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/model/onnxpb"
)

// cpuProvider is the runtime's name of the provider that takes the nodes that the others do not.
const cpuProvider = "CPUExecutionProvider"

// An operation is a node of a network by its name and kind.
type operation struct{ name, operator string }

func (n operation) String() string {
	switch {
	case n.name == "":
		return n.operator
	case strings.Contains(n.name, n.operator):
		return n.name
	}
	return n.name + " (" + n.operator + ")"
}

// fallbacks returns the nodes that a provider left to the CPU, without arithmetic on shapes: the
// runtime keeps that on the CPU, where the shapes are, to avoid waiting for the device.
func fallbacks(all []placed, shapes map[operation]bool) []operation {
	var left []operation
	for _, p := range all {
		n := operation{p.name, p.operator}
		if p.provider == cpuProvider && !shapes[n] && !slices.Contains(left, n) {
			left = append(left, n)
		}
	}
	return left
}

// maxNamed is the most nodes that a message names.
const maxNamed = 8

func nodeList(nodes []operation) string {
	var parts []string
	for _, n := range nodes[:min(len(nodes), maxNamed)] {
		parts = append(parts, n.String())
	}
	if more := len(nodes) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return english.OxfordWordSeries(parts, "and")
}

// operators lists the operators of the nodes, each once.
func operators(nodes []operation) string {
	var ops []string
	for _, n := range nodes {
		if !slices.Contains(ops, n.operator) {
			ops = append(ops, n.operator)
		}
	}
	return strings.Join(ops, ",")
}

// shapeNodes returns the nodes of a model that work only on shapes and constants, and so on a few
// numbers in the CPU's memory. Nodes without a name count as one per operator, which is in the set
// only if all of them qualify.
func shapeNodes(model []byte) (map[operation]bool, error) {
	r, shapes := new(onnxpb.Reader), map[operation]bool{}
	r.Model(model, func(graph []byte) { markShapes(r, graph, nil, shapes) })
	return shapes, r.Err
}

// markShapes marks the nodes of a graph; small holds the values of the enclosing graphs that are
// shapes or constants.
func markShapes(r *onnxpb.Reader, graph []byte, small map[string]bool, shapes map[operation]bool) {
	known := map[string]bool{}
	maps.Copy(known, small)
	var nodes []onnxpb.Node
	r.Graph(graph, onnxpb.Visitor{
		Node:     func(n onnxpb.Node) { nodes = append(nodes, n) },
		Constant: func(t onnxpb.Tensor) { known[t.Name] = true },
	})
	for _, n := range nodes {
		all := !slices.ContainsFunc(n.Inputs, func(in string) bool { return in != "" && !known[in] })
		is := n.Operator == "Shape" || n.Operator == "Size" || all && len(n.Bodies) == 0
		for _, out := range n.Outputs {
			known[out] = known[out] || is
		}
		node := operation{n.Name, n.Operator}
		before, seen := shapes[node]
		shapes[node] = is && (before || !seen)
		for _, body := range n.Bodies {
			markShapes(r, body, known, shapes)
		}
	}
}
