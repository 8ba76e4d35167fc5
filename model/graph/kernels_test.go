package graph

import (
	"flag"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/checkpoint/checkpointtest"
	"mdmgen/model/ort"
	"mdmgen/model/ort/orttest"
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

// registered are kernels for kept keys and values that the runtime's source registers for CUDA
// (cuda_execution_provider.cc), and that no opened network has used there yet.
var registered = []string{
	"Concat float float -> float", "GatherND int64 int64 -> int64", "If bool -> float float float", "Softmax float -> float", "Split float int64 -> float float",
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

// elemNames are the table's names of TensorProto.DataType.
var elemNames = map[int64]string{elemFloat: "float", elemUint8: "uint8", elemInt8: "int8", elemInt64: "int64", elemBool: "bool", elemHalf: "float16", elemDouble: "double"}

// A value describes a tensor of a graph.
type value struct {
	elem string
	// constant means that it is computed when the network is opened; host, that it is on the CPU,
	// as are sizes and, if the graph itself is there, arithmetic on them; outer, that it is from an
	// enclosing graph.
	constant, host, outer bool
}

// parsed is a node of a graph.
type parsed struct {
	name, op, domain string
	in, out          []string
	attrs            map[string]int64
	bodies           []parsedGraph
}

type parsedGraph struct {
	nodes   []parsed
	known   map[string]value // inputs and initializers
	outputs []value
}

// each calls f for the fields of a message; n is the value of a numeric one.
func each(t *testing.T, data []byte, f func(field protowire.Number, v []byte, n int64)) {
	t.Helper()
	for len(data) > 0 {
		field, kind, k := protowire.ConsumeTag(data)
		if k < 0 {
			t.Fatal("not a message")
		}
		data = data[k:]
		var v []byte
		var n uint64
		switch kind {
		case protowire.BytesType:
			v, k = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			n, k = protowire.ConsumeVarint(data)
		default:
			k = protowire.ConsumeFieldValue(field, kind, data)
		}
		if k < 0 {
			t.Fatal("not a message")
		}
		data = data[k:]
		f(field, v, int64(n))
	}
}

func parseGraph(t *testing.T, data []byte) parsedGraph {
	g := parsedGraph{known: map[string]value{}}
	port := func(v []byte) (name string, x value) {
		each(t, v, func(field protowire.Number, v []byte, _ int64) {
			switch field {
			case 1:
				name = string(v)
			case 2:
				each(t, v, func(_ protowire.Number, v []byte, _ int64) {
					each(t, v, func(field protowire.Number, _ []byte, n int64) {
						if field == 1 {
							x.elem = elemNames[n]
						}
					})
				})
			}
		})
		return name, x
	}
	each(t, data, func(field protowire.Number, v []byte, _ int64) {
		switch field {
		case 1:
			g.nodes = append(g.nodes, parseNode(t, v))
		case 5:
			name, x := "", value{constant: true}
			each(t, v, func(field protowire.Number, v []byte, n int64) {
				switch field {
				case 2:
					x.elem = elemNames[n]
				case 8:
					name = string(v)
				}
			})
			g.known[name] = x
		case 11:
			name, x := port(v)
			g.known[name] = x
		case 12:
			_, x := port(v)
			g.outputs = append(g.outputs, x)
		}
	})
	return g
}

func parseNode(t *testing.T, data []byte) parsed {
	p := parsed{attrs: map[string]int64{}}
	each(t, data, func(field protowire.Number, v []byte, _ int64) {
		switch field {
		case 1:
			p.in = append(p.in, string(v))
		case 2:
			p.out = append(p.out, string(v))
		case 3:
			p.name = string(v)
		case 4:
			p.op = string(v)
		case 7:
			p.domain = string(v)
		case 5:
			name := ""
			each(t, v, func(field protowire.Number, v []byte, n int64) {
				switch field {
				case 1:
					name = string(v)
				case 3:
					p.attrs[name] = n
				case 6:
					p.bodies = append(p.bodies, parseGraph(t, v))
				}
			})
		}
	})
	return p
}

// elems returns the types of a node's outputs.
func (p parsed) elems(in []string) []string {
	out := make([]string, len(p.out))
	all := func(elem string) []string {
		for i := range out {
			out[i] = elem
		}
		return out
	}
	switch p.op {
	case "Cast":
		return all(elemNames[p.attrs["to"]])
	case "Shape", "Size", "NonZero":
		return all("int64")
	case "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Not", "And", "Or":
		return all("bool")
	case "MatMulIntegerToFloat":
		return all("float")
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
			out[i] = p.bodies[0].outputs[i].elem
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
func (g parsedGraph) falls(table map[string]bool, outer map[string]value, repeated bool) []fall {
	known := maps.Clone(g.known)
	for name, x := range outer {
		if _, ok := known[name]; !ok {
			x.outer = true
			known[name] = x
		}
	}
	var found []fall
	for _, p := range g.nodes {
		in := make([]string, len(p.in))
		constant, host := p.op != "If" && p.op != "Scan", p.op == "Shape" || p.op == "Size"
		still := !host && constant && len(p.in) > 0 // all inputs are shapes or constants
		for i, name := range p.in {
			x, ok := known[name]
			if !ok && name != "" {
				found = append(found, fall{p.name, "reads " + name + ", which nothing has made"})
			}
			in[i] = x.elem
			constant = constant && (x.constant || name == "")
			still = still && (x.constant || x.host && !x.outer || name == "")
		}
		for _, i := range readOnHost[p.op] {
			if repeated && i < len(p.in) && p.in[i] != "" {
				if x := known[p.in[i]]; !x.constant && !x.host {
					found = append(found, fall{p.name, "waits for " + p.in[i] + " in every round"})
				}
			}
		}
		out := p.elems(in)
		for i, name := range p.out {
			known[name] = value{out[i], constant, host || still, false}
		}
		if !constant && !host && !still {
			line := strings.TrimPrefix(p.domain+"."+p.op, ".") + " " + strings.Join(in, " ") + " -> " + strings.Join(out, " ")
			if *update {
				table[line] = true
			} else if !table[line] {
				found = append(found, fall{p.name, "is not among the kernels of CUDA: " + line})
			}
		}
		for _, body := range p.bodies {
			found = append(found, body.falls(table, known, repeated || p.op == "Scan" || p.op == "Loop")...)
		}
	}
	return found
}

// parsedModel returns the graph in a model's bytes.
func parsedModel(t *testing.T, m Model) (g parsedGraph) {
	each(t, m.Bytes, func(field protowire.Number, v []byte, _ int64) {
		if field == modelGraph {
			g = parseGraph(t, v)
		}
	})
	return g
}

// largeVocabulary is a network with too many ids for tables of the first block.
const largeVocabulary = `{"tokens":90000,"model":{"type":"ddit_wot","hidden_size":16,"length":24,"n_blocks":2,"n_heads":2}}`

// Every node of every written network has a CUDA kernel for its types, so that nothing is sent to
// the CPU and back, and no chunk of a head waits for the device. The integers of int8 are for CPUs:
// networks with them are rejected on a GPU.
func TestKernelsOfCUDA(t *testing.T) {
	table := map[string]bool{}
	if !*update {
		table = readKernels(t)
	}
	networks := map[string]*checkpoint.Checkpoint{"large vocabulary": inMemory(t, checkpointtest.Folder(largeVocabulary, "", checkpoint.F32, 5))}
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
			for _, f := range parsedModel(t, m).falls(table, nil, false) {
				t.Errorf("%s, %s, half %t: %s %s", name, o.Dtype, o.Half, f.node, f.why)
			}
		}
	}
	if *update && !t.Failed() {
		lines := kernelHead + strings.Join(slices.Sorted(maps.Keys(table)), "\n") + "\n"
		reftest.OK(t, os.WriteFile(kernelTable, []byte(lines), 0o644))
	}
}
