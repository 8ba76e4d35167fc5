package ort

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// cpuProvider is the runtime's name of the provider that takes what others do not.
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

// fallbacks are the nodes that a provider left to the CPU. Arithmetic on shapes is none of them: the
// runtime keeps it there, where shapes are, so that the device is not waited for.
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

// notAllowed are those nodes of a list that neither their name nor their operator allows.
func notAllowed(left []operation, allowed []string) []operation {
	return slices.DeleteFunc(slices.Clone(left), func(n operation) bool {
		return slices.Contains(allowed, n.name) || slices.Contains(allowed, n.operator)
	})
}

// mostNamed is how many nodes a message names.
const mostNamed = 8

func nodeList(nodes []operation) string {
	var parts []string
	for _, n := range nodes[:min(len(nodes), mostNamed)] {
		parts = append(parts, n.String())
	}
	if more := len(nodes) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return english.OxfordWordSeries(parts, "and")
}

// operators are those of the nodes, each once, as --set allow-fallback takes them.
func operators(nodes []operation) string {
	var ops []string
	for _, n := range nodes {
		if !slices.Contains(ops, n.operator) {
			ops = append(ops, n.operator)
		}
	}
	return strings.Join(ops, ",")
}

// shapeNodes are the nodes of a model that work on nothing but shapes and constants, and so on a few
// numbers that the CPU has. A kind of node without a name is one only where all its nodes are.
func shapeNodes(model []byte) (map[operation]bool, error) {
	r, shapes := new(reader), map[operation]bool{}
	for n, v := range r.fields(model) {
		if n == modelGraph {
			r.markShapes(v.bytes, nil, shapes)
		}
	}
	return shapes, r.err
}

// markShapes marks the nodes of a graph; small has the values of the graphs around it that are
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
