package graph

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"strconv"

	"mdmgen/model/checkpoint"
	"mdmgen/model/internal/onnxpb"
)

// irVersion and opset are the versions of the files and of the operators.
const (
	irVersion = 8
	opset     = 17
)

// microsoft is the domain of ONNX Runtime's own operators.
const microsoft = "com.microsoft"

// producer is the model's producer_name.
const producer = "mdmgen"

// Key is the metadata key of the model's facts.
const Key = "mdmgen"

// builder collects a graph. Values are named by the node that makes them.
type builder struct {
	nodes   []onnxpb.Message
	inits   []initializer
	inputs  []onnxpb.Message
	outputs []onnxpb.Message
	// made is the set of values of the graph being built, which can be its outputs; empty are its
	// initializers without elements.
	made   map[string]bool
	empty  []initializer
	named  map[string]bool
	serial map[string]int

	// scaled means that multiplying the rows of a matrix by constants is free, because the matrix
	// is written out anyway.
	scaled bool
	// dtype is the type of matrices; layers8 means that linear layers are in 8 bits even so. quantised
	// maps the name of rows to their quantised form and its scales.
	dtype     Dtype
	layers8   bool
	block4    int // 4-bit weights that share a scale
	quantised map[string][2]string
	inner     map[string]int // zeros of inner values of MLPs
	// widened maps float16 matrices to their float32 form, and narrowed maps rows of float32 to
	// float16, in which layers and attention compute if half is set.
	widened, narrowed map[string]string
	half, gpu         bool
}

func newBuilder() *builder {
	return &builder{block4: block4, made: map[string]bool{}, named: map[string]bool{}, serial: map[string]int{}, quantised: map[string][2]string{}, inner: map[string]int{}, widened: map[string]string{}, narrowed: map[string]string{}}
}

// attrs are a node's attributes; they are written in the order given.
type attrs []struct {
	name  string
	value any
}

// node adds a node with one output and returns its name. An empty input is an omitted optional one.
func (b *builder) node(domain, op string, a attrs, in ...string) string {
	return b.nodeN(domain, op, a, 1, in...)[0]
}

// nodeN adds a node with several outputs.
func (b *builder) nodeN(domain, op string, a attrs, outputs int, in ...string) []string {
	return b.nodeTo(domain, op, a, make([]string, outputs), in...)
}

// nodeTo adds a node with the given output names; "" stands for a generated one.
func (b *builder) nodeTo(domain, op string, a attrs, out []string, in ...string) []string {
	var m onnxpb.Message
	for _, name := range in {
		m = m.Text(1, name)
	}
	b.serial[op]++
	id := fmt.Sprintf("%s_%d", op, b.serial[op])
	for i, name := range out {
		if name == "" {
			if out[i] = id; len(out) > 1 {
				out[i] = fmt.Sprintf("%s_%d", id, i)
			}
		}
		b.made[out[i]] = true
		m = m.Text(2, out[i])
	}
	m = m.Text(3, id).Text(4, op)
	for _, one := range a {
		m = m.Bytes(5, onnxpb.Attribute(one.name, one.value))
	}
	if domain != "" {
		m = m.Text(7, domain)
	}
	b.nodes = append(b.nodes, m)
	return out
}

// op adds a node of ONNX's own domain without attributes.
func (b *builder) op(op string, in ...string) string { return b.node("", op, nil, in...) }

// give makes a value an output.
func (b *builder) give(value string, elem int64, dims ...onnxpb.Dim) {
	b.outputs = append(b.outputs, onnxpb.ValueInfo(value, elem, dims...))
}

// nothing adds a tensor without elements to the graph being built.
func (b *builder) nothing(name string, elem int64, dims ...int) string {
	b.empty, b.made[name] = append(b.empty, initializer{name: name, elem: elem, dims: dims}), true
	return name
}

// output adds an Identity that renames a value to an output.
func (b *builder) output(name, value string, elem int64, dims ...onnxpb.Dim) {
	b.nodes = append(b.nodes, onnxpb.Message{}.Text(1, value).Text(2, name).Text(3, name).Text(4, "Identity"))
	b.give(name, elem, dims...)
}

// body builds a graph for an operator that runs one, such as Loop. Values of the enclosing graph
// are visible in it; constants are added to the enclosing graph.
func (b *builder) body(name string, build func()) onnxpb.Message {
	around, quantised, narrowed := *b, maps.Clone(b.quantised), maps.Clone(b.narrowed)
	b.nodes, b.inputs, b.outputs, b.made, b.empty = nil, nil, nil, map[string]bool{}, nil
	build()
	m := b.graph(name)
	b.nodes, b.inputs, b.outputs, b.made, b.empty = around.nodes, around.inputs, around.outputs, around.made, around.empty
	b.quantised, b.narrowed = quantised, narrowed
	return m
}

// graph returns a GraphProto, with only the empty initializers.
func (b *builder) graph(name string) onnxpb.Message {
	var m onnxpb.Message
	for _, n := range b.nodes {
		m = m.Bytes(1, n)
	}
	m = m.Text(2, name)
	for _, t := range b.empty {
		m = append(m, t.head()...)
	}
	for _, in := range b.inputs {
		m = m.Bytes(11, in)
	}
	for _, out := range b.outputs {
		m = m.Bytes(12, out)
	}
	return m
}

func (b *builder) input(name string, elem int64, dims ...onnxpb.Dim) string {
	b.inputs = append(b.inputs, onnxpb.ValueInfo(name, elem, dims...))
	return name
}

// constant adds an initializer once; the same name means the same data.
func (b *builder) constant(t initializer) string {
	if !b.named[t.name] {
		b.named[t.name] = true
		b.inits = append(b.inits, t)
	}
	return t.name
}

// ints adds a vector of int64.
func (b *builder) ints(name string, v ...int64) string {
	raw, _ := binary.Append(nil, binary.LittleEndian, v) // Numbers cannot fail.
	return b.constant(initializer{name: name, elem: onnxpb.Int64, dims: []int{len(v)}, raw: raw})
}

// count adds an int64 without dimensions.
func (b *builder) count(name string, v int) string {
	return b.constant(initializer{name: name, elem: onnxpb.Int64, raw: binary.LittleEndian.AppendUint64(nil, uint64(v))})
}

// floats adds a tensor of float32.
func (b *builder) floats(name string, v []float32, dims ...int) string {
	raw, _ := binary.Append(nil, binary.LittleEndian, v)
	return b.constant(initializer{name: name, elem: onnxpb.Float, dims: dims, raw: raw})
}

// doubles adds a tensor of float64.
func (b *builder) doubles(name string, v []float32, dims ...int) string {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(float64(x)))
	}
	return b.constant(initializer{name: name, elem: onnxpb.Double, dims: dims, raw: raw})
}

// bytes adds an unsigned byte without dimensions.
func (b *builder) bytes(name string, v byte) string {
	return b.constant(initializer{name: name, elem: onnxpb.Uint8, raw: []byte{v}})
}

// matrix adds rows of a checkpoint's matrix as float32.
func (b *builder) matrix(name string, s source) string {
	if b.dtype != Float16 {
		return b.packed(name, s)
	}
	if b.widened[name] == "" {
		b.widened[name] = b.node("", "Cast", attrs{{"to", onnxpb.Float}}, b.packed(name, halves{s}))
	}
	return b.widened[name]
}

// vector reads a checkpoint's vector.
func vector(c *checkpoint.Checkpoint, name string) []float32 {
	t := c.Tensor(name)
	v := make([]float32, t.Len())
	t.Widen(v, 0)
	return v
}

// whole returns all rows of a checkpoint's matrix.
func whole(t checkpoint.Tensor) source {
	if t.Across {
		return source{tensor: t, rows: t.Shape[1], cols: t.Shape[0]}
	}
	return source{tensor: t, rows: t.Shape[0], cols: t.Shape[1]}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
