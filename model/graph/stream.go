package graph

import (
	"cmp"
	"fmt"
	"math"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/internal/onnxpb"
)

// stream builds the parts that all networks share: the inputs for canvases and wanted positions,
// the rows of the residual stream that the heads take, bidirectional attention, and rotary
// positions. The residual stream is a matrix [B·L, Hidden], or [N, Hidden] once the rows that heads
// take are gathered.
type stream struct {
	c   *checkpoint.Checkpoint
	b   *builder
	net layers

	ids, positions string
	shapes         map[string]string // see shape
	index          string            // positions as indices of GatherND, [B, K, 1]
	take           string            // [N]: indices of the wanted rows, 0..B·K−1, that the heads take
	canvas         string            // see canvases
	taken          bool              // the stream has only these rows
	keeps          bool              // see [Options.Keeps]
	kept           kept
	block          causal
	length         int                  // the maximum of a canvas
	blockSize      int                  // of blocks hidden from the rows before them, 0 for none
	hidden         map[string][2]string // see unseen
	turns          map[bool][2]string   // cos and sin, [length, RotarySize/2], of local blocks and of others
	// The embeddings of ids without repetition, and for each position the index of its own; empty
	// if the first block computes each position separately.
	distinct, inverse string
	// See centre.go: whether the graph measures means, those that it measures, and those that rows lack.
	measures bool
	measured []string
	means    []float32
}

// layers adds the layers of one kind of network to a stream.
type layers interface {
	// embed returns the residual stream before the first block.
	embed() string
	// block adds block i. The last block returns only the taken rows: nothing after attention's
	// keys and values needs the others, and nothing after attention needs wanted rows that no head
	// takes.
	block(i int, x string, last bool) string
	// final returns rows of the stream as the input of the last linear layer. head returns that
	// layer: the name of its parameters, its matrix, and its bias or nil.
	final(x string) string
	head() (name string, w source, bias []float32)
}

// kinds maps each kind of network to the constructor of its layers.
var kinds = map[checkpoint.Network]func(*stream) layers{
	checkpoint.DDiT:    newDDiT,
	checkpoint.Gated:   newGated,
	checkpoint.Encoder: newEncoder,
	checkpoint.Modern:  newModern,
	checkpoint.Learned: newLearned,
}

// build adds the whole network to the builder. f defines the tokens for the heads.
func (d *stream) build(f facts.Facts) {
	cfg, b := d.c.Config, d.b
	d.shapes, d.hidden, d.turns = map[string]string{}, map[string][2]string{}, map[bool][2]string{}
	d.length, d.blockSize = f.Length, f.BlockSize
	d.ids = b.input("input_ids", onnxpb.Int64, "batch", "length")
	if d.measures {
		d.survey()
		return
	}
	d.positions = b.input("positions", onnxpb.Int64, "batch", "wanted")
	d.index = b.op("Unsqueeze", d.positions, b.ints("last_axis", -1))
	heads := d.inputs()
	d.keptInputs()
	d.causalInputs()
	x := d.net.embed()
	for i := range cfg.Blocks {
		x = d.net.block(i, x, i == cfg.Blocks-1)
	}
	d.outputs(heads, d.net.final(x), f)
	d.keptOutputs()
}

// shape returns the shape [B, n, width] of a matrix [B·n, width], where n is the number of computed
// rows if of is d.ids, and of wanted rows if it is d.positions.
func (d *stream) shape(of string, width int) string {
	key := fmt.Sprintf("%s_%d", of, width)
	if d.shapes[key] == "" {
		b := d.b
		d.shapes[key] = b.node("", "Concat", attrs{{"axis", 0}}, b.op("Shape", of), b.ints(fmt.Sprintf("width_%d", width), int64(width)))
	}
	return d.shapes[key]
}

// as reshapes a matrix to [B, n, width], see shape; flat reshapes a tensor back to a matrix.
func (d *stream) as(x, of string, width int) string { return d.b.op("Reshape", x, d.shape(of, width)) }

func (d *stream) flat(x string, width int) string {
	return d.b.op("Reshape", x, d.b.ints(fmt.Sprintf("shape_flat_%d", width), -1, int64(width)))
}

// foldedTables is the size in bytes up to which the first block's queries, keys and values are
// stored for every id of the vocabulary.
const foldedTables = 16 << 20

// table returns the embeddings of all ids, and the canvases' ids in one dimension.
func (d *stream) table() (table, line string) {
	name := d.c.Config.Embedding()
	table = d.b.matrix(name, whole(d.c.Tensor(name)))
	return table, d.b.op("Reshape", d.ids, d.b.ints("shape_line", -1))
}

// embed returns the embeddings of the canvases' ids.
//
// The first block's queries, keys and values depend on the id alone until they are rotated. If the
// norm does not depend on a canvas's time and the vocabulary is small, they are computed once for
// each id, when the runtime folds constants. With a large vocabulary this does not pay: to compute
// each id of a call once, the graph must count them, for which a GPU makes the host wait, and it
// saves only a fiftieth of twelve blocks.
func (d *stream) embed() string {
	cfg := d.c.Config
	if d.b.dtype.four() && allInFour(d.c.Config) {
		return d.b.gathered4(cfg.Embedding(), whole(d.c.Tensor(cfg.Embedding())), d.b.op("Reshape", d.ids, d.b.ints("shape_line", -1)))
	}
	table, line := d.table()
	if !cfg.TimeConditioned && cfg.Blocks > 1 && 4*3*cfg.Columns*cfg.Hidden <= foldedTables {
		d.distinct, d.inverse = table, line
	}
	return d.b.op("Gather", table, line)
}

// placed returns the embeddings of the canvases' ids plus those of their positions, a table [length,
// Hidden].
func (d *stream) placed(table string) string {
	b, h := d.b, d.c.Config.Hidden
	words, line := d.table()
	return d.flat(b.op("Add", d.as(b.op("Gather", words, line), d.ids, h), b.op("Gather", table, d.places())), h)
}

// places returns the positions of the rows of input_ids, [B, L], or [1, L] if they are the same in all
// canvases.
func (d *stream) places() string {
	if d.keeps {
		return d.kept.asked
	}
	b := d.b
	one := b.count("one_position", 1)
	return b.op("Unsqueeze", b.op("Range", b.count("no_position", 0), b.op("Gather", b.op("Shape", d.ids), one), one), b.ints("first_axis", 0))
}

// once returns the rows from which block i computes queries, keys and values, which are the
// distinct embeddings if these are shared, and a function that maps the results back to positions.
func (d *stream) once(i int, x string) (string, func(string) string) {
	if i > 0 || d.distinct == "" {
		return x, func(y string) string { return y }
	}
	return d.distinct, func(y string) string { return d.b.op("Gather", y, d.inverse) }
}

// gather returns the wanted rows of the stream.
func (d *stream) gather(x string) string {
	h := d.c.Config.Hidden
	return d.flat(d.b.node("", "GatherND", attrs{{"batch_dims", 1}}, d.as(x, d.ids, h), d.index), h)
}

// keep reduces wanted rows to those that heads take.
func (d *stream) keep(rows ...*string) {
	for _, x := range rows {
		*x = d.b.op("Gather", *x, d.take)
	}
	d.taken = true
}

// canvases returns the canvas of each taken row.
func (d *stream) canvases() string {
	if d.canvas == "" {
		b := d.b
		d.canvas = b.op("Div", d.take, b.op("Gather", b.op("Shape", d.positions), b.count("one_position", 1)))
	}
	return d.canvas
}

// linear adds a linear layer, with the parameters of that name, to rows of the stream.
func (d *stream) linear(name, x string, bias bool) string {
	return d.part(name, name, x, d.matrix(name), bias)
}

// matrix is the matrix of a linear layer.
func (d *stream) matrix(name string) source { return whole(d.c.Tensor(name + ".weight")) }

// part adds a linear layer of some rows w of the matrix called name, under a name of its own.
func (d *stream) part(own, name, x string, w source, bias bool) string {
	var v []float32
	if bias {
		v = vector(d.c, name+".bias")[w.first : w.first+w.rows]
	}
	return d.b.product(own, x, w, v)
}

// swap transposes heads [B, n, a·b·HeadSize] to [B, n, b, a, HeadSize].
func (d *stream) swap(x string, a, b int) string {
	five := d.b.ints(fmt.Sprintf("shape_heads_%d_%d", a, b), 0, 0, int64(a), int64(b), int64(d.c.Config.HeadSize()))
	return d.b.node("", "Transpose", attrs{{"perm", []int{0, 1, 3, 2, 4}}}, d.b.op("Reshape", x, five))
}

// gelu adds x·Φ(x), with Φ by the error function.
func (d *stream) gelu(x string) string { return d.b.gelu("Gelu", x) }

// layerNorm adds a LayerNorm of rows, without a bias if it is nil.
func (d *stream) layerNorm(name, x string, bias []float32) string {
	w := vector(d.c, name+".weight")
	in := []string{x, d.b.floats(name+".weight", w, len(w))}
	if bias != nil {
		in = append(in, d.b.floats(name+".bias", bias, len(bias)))
	}
	return d.b.node("", "LayerNormalization", attrs{{"axis", -1}, {"epsilon", float32(d.c.Config.Epsilon)}}, in...)
}

// rotary rotates the heads of queries or keys [B, n, heads·HeadSize] of a block by their positions.
func (d *stream) rotary(block int, x, at string, heads int) string {
	local := d.c.Config.Local.In[block]
	if d.turns[local] == [2]string{} {
		d.turns[local] = d.rotaryTables(block)
	}
	a := attrs{{"num_heads", heads}}
	if size := d.c.Config.RotarySize(); size < d.c.Config.HeadSize() {
		a = append(a, attrs{{"rotary_embedding_dim", size}}...)
	}
	return d.b.node(microsoft, "RotaryEmbedding", a, x, at, d.turns[local][0], d.turns[local][1])
}

// scaled multiplies queries [B, n, width] by the factors of their positions.
func (d *stream) scaled(q, at string) string {
	how := d.c.Config.QueryScale
	if how.Beta == 0 || d.length <= how.Original {
		return q
	}
	factors := make([]float32, d.length)
	for p := range factors {
		factors[p] = float32(how.At(p))
	}
	return d.b.op("Mul", q, d.b.op("Gather", d.b.floats("query_scale", factors, d.length, 1), at))
}

// rotaryTables adds cos and sin of position·ω_j in a block, which rotate pair (j, j + RotarySize/2) of a
// head. Like upstream's tables, they are computed from float32 products.
func (d *stream) rotaryTables(block int) [2]string {
	half, scale := d.c.Config.RotarySize()/2, cmp.Or(d.c.Config.Yarn.Scale, 1)
	cos := make([]float32, d.length*half)
	sin := make([]float32, d.length*half)
	for j, freq := range d.c.RotaryFrequencies(block) {
		for p := range d.length {
			angle := float64(float32(p) * freq)
			cos[p*half+j], sin[p*half+j] = float32(scale*math.Cos(angle)), float32(scale*math.Sin(angle))
		}
	}
	of := ""
	if d.c.Config.Local.In[block] {
		of = "_local"
	}
	return [2]string{d.b.floats("rotary_cos"+of, cos, d.length, half), d.b.floats("rotary_sin"+of, sin, d.length, half)}
}
