package ort

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
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

func readNode(data []byte) (n nodeInfo, err error) {
	err = fields(data, func(field protowire.Number, v []byte, _ uint64) error {
		switch field {
		case nodeInput:
			n.inputs = append(n.inputs, string(v))
		case nodeOutput:
			n.outputs = append(n.outputs, string(v))
		case nodeName:
			n.name = string(v)
		case nodeOperator:
			n.operator = string(v)
		case nodeFeature:
			return fields(v, func(field protowire.Number, v []byte, _ uint64) error {
				if field == featureGraph || field == featureGraphs {
					n.bodies = append(n.bodies, v)
				}
				return nil
			})
		}
		return nil
	})
	return n, err
}

// random are the operators that draw random numbers: their rows differ from call to call.
var random = []string{"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}

// checkNode rejects a node that draws at random, and records loops.
func (d *Description) checkNode(kind messageType, data []byte) error {
	if kind != aNode {
		return nil
	}
	n, err := readNode(data)
	if err != nil {
		return err
	}
	if trains := n.operator == "Dropout" && len(n.inputs) > 2 && n.inputs[2] != ""; trains || slices.Contains(random, n.operator) {
		return fmt.Errorf("node %s draws at random, so that no row could be computed again: export the network for inference, without it", n)
	}
	if n.operator == "Loop" {
		d.loops = append(d.loops, n.operation)
	}
	return nil
}
