package graph

import (
	"flag"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/internal/onnxpb"
	"mdmgen/model/ort"
)

// kernelTable lists the operators that CUDA takes; its first lines explain its form and origin.
const kernelTable = "testdata/cuda-kernels.txt"

// update makes [TestKernelsOfCUDA] write the table again, from networks that open with CUDA.
var update = flag.Bool("update", false, "write testdata/cuda-kernels.txt from what the runtime of MDMGEN_RUNTIME takes on CUDA")

// kernelHead are the table's first lines.
const kernelHead = `# Operators with the element types of their inputs and outputs that the CUDA provider of ONNX Runtime 1.30.0 takes
# (the Linux build of the package onnxruntime-gpu, SHA-256 6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1):
# each was in a network that opened with --device cuda, where a node that CUDA does not take is an error.
# Which provider takes a node is decided by its registered kernels, before anything runs.
# Made with: MDMGEN_RUNTIME=<that library> go test ./model/graph -run TestKernelsOfCUDA -update
`

// registered are kernels for kept keys and values, and for the parts of RMSNorm, that the runtime's
// source registers for CUDA (cuda_execution_provider.cc), and that no opened network has used there yet.
var registered = []string{
	"Concat float32 float32 -> float32", "GatherND int64 int64 -> int64", "If bool -> float32 float32 float32", "Softmax float32 -> float32", "Split float32 int64 -> float32 float32",
	"Pow float32 float32 -> float32", "ReduceMean float32 -> float32", "Sqrt float32 -> float32",
}

func readKernels(t *testing.T) map[string]bool {
	t.Helper()
	text := reftest.Must(os.ReadFile(kernelTable))(t)
	table := map[string]bool{}
	for _, line := range registered {
		table[line] = true
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			table[line] = true
		}
	}
	return table
}

// A value describes a tensor of a graph.
type value struct {
	elem string
	// constant means that it is computed when the network is opened; host, that it is on the CPU,
	// as are sizes and, if the graph itself is there, arithmetic on them; outer, that it is from an
	// enclosing graph.
	constant, host, outer bool
}

// A parsed graph holds its inputs and initializers as known.
type parsed struct {
	nodes   []onnxpb.Node
	known   map[string]value
	outputs []value
}

// parse reads a graph.
func parse(t *testing.T, data []byte) parsed {
	t.Helper()
	g, r := parsed{known: map[string]value{}}, new(onnxpb.Reader)
	r.Graph(data, onnxpb.Visitor{
		Node:     func(n onnxpb.Node) { g.nodes = append(g.nodes, n) },
		Constant: func(c onnxpb.Tensor) { g.known[c.Name] = value{elem: c.Type, constant: true} },
		Input:    func(in onnxpb.Value) { g.known[in.Name] = value{elem: in.Type} },
		Output:   func(out onnxpb.Value) { g.outputs = append(g.outputs, value{elem: out.Type}) },
	})
	reftest.OK(t, r.Err)
	return g
}

// elems returns the types of the outputs of a node that runs graphs, or none.
func elems(p onnxpb.Node, bodies []parsed, in []string) []string {
	out := make([]string, len(p.Outputs))
	all := func(elem string) []string {
		for i := range out {
			out[i] = elem
		}
		return out
	}
	switch p.Operator {
	case "Cast":
		return all(onnxpb.ElementType(p.Numbers["to"], ""))
	case "Shape", "Size", "NonZero":
		return all("int64")
	case "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Not", "And", "Or":
		return all("bool")
	case "MatMulIntegerToFloat":
		return all("float32")
	case "Where":
		return all(in[1])
	case "QuantizeLinear":
		return all(in[2])
	case "TopK":
		copy(out[1:], []string{"int64"})
		out[0] = in[0]
		return out
	case "If", "Scan":
		for i := range out {
			out[i] = bodies[0].outputs[i].elem
		}
		return out
	}
	return all(in[0])
}

// readOnHost lists the inputs that a CUDA kernel reads on the CPU before it can begin.
var readOnHost = map[string][]int{
	"Range": {0, 1, 2}, "Slice": {1, 2, 3, 4}, "Reshape": {1}, "Expand": {1}, "Pad": {1}, "TopK": {1}, "ReduceSum": {1}, "CumSum": {1}, "Unsqueeze": {1}, "If": {0},
}

// A fall is a node that CUDA cannot take, or that waits for the device.
type fall struct{ node, why string }

// falls finds them in a graph and in the bodies of its operators; repeated means that the graph
// runs many times in a call.
func (g parsed) falls(t *testing.T, table map[string]bool, outer map[string]value, repeated bool) []fall {
	known := maps.Clone(g.known)
	for name, x := range outer {
		if _, ok := known[name]; !ok {
			x.outer = true
			known[name] = x
		}
	}
	var found []fall
	for _, p := range g.nodes {
		in := make([]string, len(p.Inputs))
		constant, host := p.Operator != "If" && p.Operator != "Scan", p.Operator == "Shape" || p.Operator == "Size"
		still := !host && constant && len(p.Inputs) > 0 // all inputs are shapes or constants
		for i, name := range p.Inputs {
			x, ok := known[name]
			if !ok && name != "" {
				found = append(found, fall{p.Name, "reads " + name + ", which nothing has made"})
			}
			in[i] = x.elem
			constant = constant && (x.constant || name == "")
			still = still && (x.constant || x.host && !x.outer || name == "")
		}
		for _, i := range readOnHost[p.Operator] {
			if repeated && i < len(p.Inputs) && p.Inputs[i] != "" {
				if x := known[p.Inputs[i]]; !x.constant && !x.host {
					found = append(found, fall{p.Name, "waits for " + p.Inputs[i] + " in every round"})
				}
			}
		}
		bodies := make([]parsed, len(p.Bodies))
		for i, data := range p.Bodies {
			bodies[i] = parse(t, data)
		}
		out := elems(p, bodies, in)
		for i, name := range p.Outputs {
			known[name] = value{out[i], constant, host || still, false}
		}
		if !constant && !host && !still {
			line := strings.TrimPrefix(p.Domain+"."+p.Operator, ".") + " " + strings.Join(in, " ") + " -> " + strings.Join(out, " ")
			if *update {
				table[line] = true
			} else if !table[line] {
				found = append(found, fall{p.Name, "is not among the kernels of CUDA: " + line})
			}
		}
		for _, body := range bodies {
			found = append(found, body.falls(t, table, known, repeated || p.Operator == "Scan" || p.Operator == "Loop")...)
		}
	}
	return found
}

// parsedModel returns the graph in a model's bytes.
func parsedModel(t *testing.T, m Model) (g parsed) {
	r := new(onnxpb.Reader)
	r.Model(m.Bytes, func(graph []byte) { g = parse(t, graph) })
	reftest.OK(t, r.Err)
	return g
}

// largeVocabulary is a network with too many ids for tables of the first block.
const largeVocabulary = `{"tokens":90000,"model":{"type":"ddit_wot","hidden_size":16,"length":65,"n_blocks":2,"n_heads":2}}`

// Every node of every written network has a CUDA kernel for its types, so that nothing is sent to
// the CPU and back, and no chunk of a head waits for the device. The integers of int8 are for CPUs:
// networks with them are rejected on a GPU.
func TestKernelsOfCUDA(t *testing.T) {
	table := map[string]bool{}
	if !*update {
		table = readKernels(t)
	}
	networks := map[string]*checkpoint.Checkpoint{"large vocabulary": random(t, largeVocabulary)}
	for _, g := range golden {
		networks[g.name] = published(t, g.name)
	}
	for name, c := range networks {
		for _, o := range []Options{{}, {Dtype: Float16}, {Dtype: Float16, Half: true}, {Dtype: Int4}} {
			o.inPlace = math.MaxInt64
			m := reftest.Must(Build(t.Context(), c, o))(t)
			if *update {
				s, err := ort.Open(t.Context(), ort.Source{Bytes: m.Bytes}, ort.Config{Device: "cuda", Threads: 1})
				orttest.Opened(t, s, err)
			}
			for _, f := range parsedModel(t, m).falls(t, table, nil, false) {
				t.Errorf("%s, %s, half %t: %s %s", name, o.Dtype, o.Half, f.node, f.why)
			}
		}
	}
	if *update && !t.Failed() {
		lines := kernelHead + strings.Join(slices.Sorted(maps.Keys(table)), "\n") + "\n"
		reftest.OK(t, os.WriteFile(kernelTable, []byte(lines), 0o644))
	}
}
