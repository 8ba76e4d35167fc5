package ort

import (
	"fmt"
	"slices"
)

// Field numbers of onnx.proto.
const (
	graphNode                                                  = 1
	nodeInput, nodeOutput, nodeName, nodeOperator, nodeFeature = 1, 2, 3, 4, 5
	featureGraph, featureGraphs                                = 6, 11
)

// A nodeInfo is an operation with its inputs and outputs, and the graphs that it runs.
type nodeInfo struct {
	operation
	inputs, outputs []string
	bodies          [][]byte
}

func (r *reader) node(data []byte) (out nodeInfo) {
	for n, v := range r.fields(data) {
		switch n {
		case nodeInput:
			out.inputs = append(out.inputs, string(v.bytes))
		case nodeOutput:
			out.outputs = append(out.outputs, string(v.bytes))
		case nodeName:
			out.name = string(v.bytes)
		case nodeOperator:
			out.operator = string(v.bytes)
		case nodeFeature:
			for n, v := range r.fields(v.bytes) {
				if n == featureGraph || n == featureGraphs {
					out.bodies = append(out.bodies, v.bytes)
				}
			}
		}
	}
	return out
}

// random are the operators that draw random numbers: their rows differ from call to call.
var random = []string{"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}

// checkNode rejects a node that draws at random, and records loops.
func (d *Description) checkNode(r *reader, data []byte) {
	n := r.node(data)
	if r.err != nil {
		return
	}
	if trains := n.operator == "Dropout" && len(n.inputs) > 2 && n.inputs[2] != ""; trains || slices.Contains(random, n.operator) {
		r.err = fmt.Errorf("node %s draws at random, so no row could be recomputed: export the network for inference, without it", n)
	}
	if n.operator == "Loop" {
		d.loops = append(d.loops, n.operation)
	}
}
