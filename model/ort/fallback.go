package ort

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
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

// notAllowed returns the nodes of a list that are allowed neither by name nor by operator.
func notAllowed(left []operation, allowed []string) []operation {
	return slices.DeleteFunc(slices.Clone(left), func(n operation) bool {
		return slices.Contains(allowed, n.name) || slices.Contains(allowed, n.operator)
	})
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

// operators lists the operators of the nodes, each once, in the form that --set allow-fallback
// takes.
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
	r, shapes := new(reader), map[operation]bool{}
	for n, v := range r.fields(model) {
		if n == modelGraph {
			r.markShapes(v.bytes, nil, shapes)
		}
	}
	return shapes, r.err
}

// markShapes marks the nodes of a graph; small holds the values of the enclosing graphs that are
// shapes or constants.
func (r *reader) markShapes(graph []byte, small map[string]bool, shapes map[operation]bool) {
	known := map[string]bool{}
	maps.Copy(known, small)
	var nodes [][]byte
	for n, v := range r.fields(graph) {
		switch n {
		case graphNode:
			nodes = append(nodes, v.bytes)
		case graphInitializer:
			for n, v := range r.fields(v.bytes) {
				if n == tensorName {
					known[string(v.bytes)] = true
				}
			}
		}
	}
	for _, one := range nodes {
		n := r.node(one)
		all := !slices.ContainsFunc(n.inputs, func(in string) bool { return in != "" && !known[in] })
		is := n.operator == "Shape" || n.operator == "Size" || all && len(n.bodies) == 0
		for _, out := range n.outputs {
			known[out] = known[out] || is
		}
		before, seen := shapes[n.operation]
		shapes[n.operation] = is && (before || !seen)
		for _, body := range n.bodies {
			r.markShapes(body, known, shapes)
		}
	}
}
