package graph

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/half"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/internal/onnxpb"
	"mdmgen/model/ort"
)

// layer builds a graph of one linear layer from x [n, in] to y [n, out].
func layer(t *testing.T, d Dtype, w []float32, in, out int, bias []float32) *ort.Session {
	t.Helper()
	return session(t, ort.Source{Bytes: layerBytes(t, d, w, in, out, bias)})
}

func layerBytes(t *testing.T, d Dtype, w []float32, in, out int, bias []float32) []byte {
	t.Helper()
	b := newBuilder()
	b.dtype = d
	x := b.input("x", onnxpb.Float, "n", in)
	m := checkpointtest.Tensor("w", checkpoint.F32, w, out, in)
	b.output("y", b.product("w", x, whole(m), bias), onnxpb.Float, "n", out)
	g := reftest.Must(b.encode(facts.Facts{}))(t)
	return reftest.Must(g.Bytes())(t)
}

// rows runs the layer.
func rows(t *testing.T, s *ort.Session, x []float32, in, out int) []float32 {
	t.Helper()
	n := len(x) / in
	y := make([]float32, n*out)
	err := s.Run(t.Context(), []ort.Tensor{{Name: "x", Shape: []int64{int64(n), int64(in)}, Float32: x}},
		[]ort.Tensor{{Name: "y", Shape: []int64{int64(n), int64(out)}, Float32: y}})
	reftest.OK(t, err)
	return y
}

// normals returns n normal numbers.
func normals(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// TestInt8IsExact compares a layer with the integer sums that define it: rows and weights in steps
// of their greatest value / 127, ties to even. Weights and rows at the ends of their range, all of
// one sign, would saturate 16-bit sums.
func TestInt8IsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	const in, out, n = 96, 40, 17
	w, x, bias := normals(r, in*out), normals(r, in*n), normals(r, out)
	for i := range in {
		w[i], x[i] = 2, 3
		w[in+i], x[in+i] = -2, -3
		x[2*in+i] = 0
	}
	text := layerBytes(t, Int8, w, in, out, bias)
	got := rows(t, session(t, ort.Source{Bytes: text}), x, in, out)
	if other := rows(t, session(t, ort.Source{Bytes: text, Unsigned: true}), x, in, out); !slices.Equal(other, got) {
		t.Error("other bits with weights in unsigned bytes")
	}
	for i := range n {
		row := x[i*in : (i+1)*in]
		sx := step8(row)
		for j := range out {
			col := w[j*in : (j+1)*in]
			sw := step8(col)
			sum := 0
			for k := range in {
				sum += quantise(row[k], sx, -128, 127) * quantise(col[k], sw, -127, 127)
			}
			want := float64(sum)*float64(sx)*float64(sw) + float64(bias[j])
			// A value of a row within rounding of the middle of two steps may be rounded either
			// way.
			slack := 1e-6*math.Abs(want) + 1e-6
			if d := math.Abs(float64(got[i*out+j]) - want); d > slack {
				t.Fatalf("row %d, output %d: %v, want %v", i, j, got[i*out+j], want)
			}
		}
	}
}

// TestInnerValues checks that a layer of a GELU's values, in groups with a scale each, is nearer to
// float32's than a layer of the same values without: a value of 40 leaves few steps to others.
func TestInnerValues(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 8))
	const in, out, n = columns8, 24, 9
	w, x := normals(r, in*out), normals(r, in*n)
	for i := range n {
		x[i*in+i] = 40
	}
	run := func(d Dtype, inner bool) []float32 {
		b := newBuilder()
		b.dtype = d
		y := b.gelu("Gelu", b.input("x", onnxpb.Float, "n", in))
		if !inner {
			delete(b.inner, y)
		}
		b.output("y", b.product("w", y, whole(checkpointtest.Tensor("w", checkpoint.F32, w, out, in)), nil), onnxpb.Float, "n", out)
		g := reftest.Must(b.encode(facts.Facts{}))(t)
		return rows(t, session(t, ort.Source{Bytes: reftest.Must(g.Bytes())(t)}), x, in, out)
	}
	exact := run(Float32, false)
	off := func(inner bool) (sum float64) {
		for i, y := range run(Int8, inner) {
			sum += math.Pow(float64(y-exact[i]), 2)
		}
		return sum
	}
	// The steps of one group in four are 40/239 instead of 40/127, those of the others small: rows
	// keep a fourteenth of their squared error. Weights keep theirs.
	if with, without := off(true), off(false); !(with > 0 && with < without/6) {
		t.Errorf("squared error %.3g, without scales of their own %.3g", with, without)
	}
}

// TestRowsAreAlone changes all rows but the first, even by a factor of a million: the first keeps
// its bits.
func TestRowsAreAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	const in, out, n = 64, 48, 33
	w, x := normals(r, in*out), normals(r, in*n)
	for _, d := range Dtypes() {
		s := layer(t, d, w, in, out, nil)
		want := slices.Clone(rows(t, s, x, in, out)[:out])
		for _, factor := range []float32{1, 1e-6, 1e6} {
			other := normals(r, in*n)
			for i := range other {
				other[i] *= factor
			}
			copy(other, x[:in])
			if got := rows(t, s, other, in, out)[:out]; !slices.Equal(got, want) {
				t.Errorf("%s: row 0 is another beside rows of about %g", d, factor)
			}
		}
	}
}

// TestRounding bounds the error of a layer by its steps: each weight has an error of at most half a
// step, and so has each value of a row.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	const in, out, n = 320, 24, 5
	w, x, bias := normals(r, in*out), normals(r, in*n), normals(r, out)
	exact := rows(t, layer(t, Float32, w, in, out, bias), x, in, out)
	for _, c := range []struct {
		d           Dtype
		least, most float64 // root mean square error of a sum of in terms, divided by √in
	}{
		{Float16, 1e-6, 5e-4}, {Int8, 1e-3, 0.02}, {Int4, 0.02, 0.15},
	} {
		var sum float64
		for i, y := range rows(t, layer(t, c.d, w, in, out, bias), x, in, out) {
			sum += math.Pow(float64(y-exact[i]), 2)
		}
		if rms := math.Sqrt(sum / n / out / in); !(rms > c.least && rms < c.most) {
			t.Errorf("%s: an error of %.3g, want %g to %g", c.d, rms, c.least, c.most)
		}
	}
}

// TestPacked reads back the written weights: weights that are whole steps are stored exactly, even
// if the last block of a row is short.
func TestPacked(t *testing.T) {
	const in, out = 40, 3
	w := make([]float32, in*out)
	for i := range w {
		w[i] = float32((i*7)%16-8) / 4
	}
	m := whole(checkpointtest.Tensor("w", checkpoint.F32, w, out, in))
	written := func(d data) []byte {
		var b bytes.Buffer
		n, err := d.WriteTo(&b)
		if err != nil || n != d.size() || int64(b.Len()) != n {
			t.Fatalf("%T: %d bytes, %v; it says %d", d, b.Len(), err, d.size())
		}
		return b.Bytes()
	}
	four, by := written(packed4{m, block4, false}), written(scales{m, step4, block4, false})
	wide := func(s source) data { return halves{s} }
	two := written(wide(m))
	eight, by8 := written(packed8{m}), written(scales{m, step8, in, false})
	at := func(b []byte, i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }
	for r := range out {
		for c := range in {
			want := w[r*in+c]
			blocks := blocks(in, block4)
			nibble := four[(r*blocks+c/block4)*block4/2+c%block4/2] >> (4 * (c % 2)) & 0xF
			// The greatest value of the first block is a whole step; that of the short block need
			// not be.
			step := at(by, r*blocks+c/block4)
			if got := float32(int(nibble)-8) * step; got != want && (c < block4 || math.Abs(float64(got-want)) > math.Abs(float64(step))) {
				t.Errorf("4 bits, %d,%d: %v, want %v", r, c, got, want)
			}
			if got := half.FromFloat16(binary.LittleEndian.Uint16(two[2*(r*in+c):])); got != want {
				t.Errorf("float16, %d,%d: %v, want %v", r, c, got, want)
			}
			if got := float32(int8(eight[c*out+r])) * at(by8, r); math.Abs(float64(got-want)) > 1./127 {
				t.Errorf("8 bits, %d,%d: %v, want %v", r, c, got, want)
			}
		}
	}
	large := whole(checkpointtest.Tensor("w", checkpoint.F32, []float32{1, 7e4}, 1, 2))
	reftest.Fails(t, reftest.Err(wide(large).WriteTo(&bytes.Buffer{})), "", "70,000 is written as a float16")
	// The same weights, stored as inputs by outputs.
	turned := make([]float32, len(w))
	for i, x := range w {
		turned[i%in*out+i/in] = x
	}
	t2 := checkpointtest.Tensor("w", checkpoint.F32, turned, in, out)
	t2.Across = true
	part, across := m, whole(t2)
	part.first, part.rows, across.first, across.rows = 1, out-2, 1, out-2
	for _, pair := range [][2]source{{m, whole(t2)}, {part, across}} {
		a, b := pair[0], pair[1]
		for i, d := range [][2]data{{a, b}, {halves{a}, halves{b}}, {packed4{a, block4, false}, packed4{b, block4, false}}, {packed8{a}, packed8{b}}, {scales{a, step8, in, false}, scales{b, step8, in, false}}} {
			if !bytes.Equal(written(d[0]), written(d[1])) {
				t.Errorf("form %d of a matrix of inputs by outputs differs", i)
			}
		}
	}
}

// TestWeightsThatDoNotFit checks that weights that a type cannot represent are rejected, in one
// line with the tensor and the row.
func TestWeightsThatDoNotFit(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		d    Dtype
		w    float32
		want string // "" if it fits
	}{
		{Float16, 7e4, "70000 is beyond"}, {Float16, inf, ""}, {Int8, 7e4, ""}, {Int4, 7e4, ""},
		{Int8, inf, "infinite"}, {Int8, -inf, "infinite"}, {Int4, inf, "infinite"}, {Float32, inf, ""},
	} {
		b := newBuilder()
		b.dtype = c.d
		w := make([]float32, 3*40)
		w[2*40+35] = c.w
		b.product("w", "x", whole(checkpointtest.Tensor("stored", checkpoint.F32, w, 3, 40)), nil)
		m := reftest.Must(b.encode(facts.Facts{}))(t)
		text, err := m.Bytes()
		switch {
		case c.want == "" && (err != nil || int64(len(text)) != m.size):
			t.Errorf("%s of %g: %v, %d of %d bytes", c.d, c.w, err, len(text), m.size)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "tensor stored, row 2: ")):
			t.Errorf("%s of %g: %v, want %q", c.d, c.w, err, c.want)
		}
	}
}

// TestOnlyTheHeadIsNotQuantised builds a network whose layers are all as wide as its vocabulary:
// every layer is in integers, the head is not.
func TestOnlyTheHeadIsNotQuantised(t *testing.T) {
	const config = `{"architectures":["A2DQwen2LMHeadModel"],"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":2,` +
		`"intermediate_size":8,"max_position_embeddings":8,"vocab_size":8,"mask_token_id":5,"rope_theta":10000.0}`
	ck := reftest.Must(checkpoint.OpenFS(checkpointtest.Folder(config, "", checkpoint.F32, 1), "square"))(t)
	for _, d := range []Dtype{Int8, Int4} {
		b, _, err := network(ck, Options{Dtype: d}, true)
		reftest.OK(t, err)
		var plain, packed int
		for _, t := range b.inits {
			switch t.src.(type) {
			case source:
				plain++
			case packed8, packed4:
				packed++
			}
		}
		if plain != 2 || packed != 7 {
			t.Errorf("%s: %d matrices are float32 and %d integers, want the embedding and the head, and 7 layers", d, plain, packed)
		}
	}
}

// TestCanvasesAreAlone changes all canvases of a call but the first: in every precision the first
// has the same logits, to the last bit. A scale for the whole call would break that.
func TestCanvasesAreAlone(t *testing.T) {
	const n, length = 5, 16
	for _, name := range []string{"mdlm", "mdlm-timecond"} {
		ck := published(t, name)
		columns := ck.Config.Columns
		for _, d := range Dtypes() {
			s := built(t, ck, Options{Dtype: d})
			r := rand.New(rand.NewPCG(4, 8))
			c := call{rows: n, ids: make([]int64, n*length), positions: everywhere(n, length)}
			if ck.Config.TimeConditioned {
				c.sigma = []float32{1, 1, 1, 1, 1}
			}
			draw := func(from int) {
				for i := from; i < len(c.ids); i++ {
					c.ids[i] = r.Int64N(int64(columns))
				}
			}
			draw(0)
			want := slices.Clone(c.run(t, s)[:length*columns])
			draw(length)
			if c.sigma != nil {
				c.sigma = []float32{1, 0.1, 5, 9, 3}
			}
			if got := c.run(t, s)[:length*columns]; !slices.Equal(got, want) {
				t.Errorf("%s as %s: canvas 0 is another beside others", name, d)
			}
		}
	}
}

// TestMemory compares what networks are said to take with the peaks, in GiB, of docs/models.md,
// docs/precision.md and docs/research/figures.md, of which some hundred MiB are not weights.
func TestMemory(t *testing.T) {
	for config, peaks := range map[string]map[Dtype]float64{
		`{"architectures":["LLaDAModelLM"],"d_model":4096,"n_layers":32,"n_heads":32,"mlp_hidden_size":12288,"max_sequence_length":4096,"vocab_size":126464,
			"mask_token_id":1,"rope_theta":5e5,"weight_tying":false,"block_type":"llama","layer_norm_type":"rms","activation_type":"silu","rope":true}`: {Float32: 4 * 8.015581184e9 / (1 << 30), Int8: 10, Int4: 9.6},
		`{"architectures":["LLaDA2MoeModelLM"],"model_type":"llada2_moe","hidden_size":2048,"num_hidden_layers":20,"num_attention_heads":16,
			"num_key_value_heads":4,"head_dim":128,"intermediate_size":5120,"moe_intermediate_size":512,"num_experts":256,"num_experts_per_tok":8,
			"num_shared_experts":1,"n_group":8,"topk_group":4,"first_k_dense_replace":1,"partial_rotary_factor":0.5,"routed_scaling_factor":2.5,
			"max_position_embeddings":4096,"vocab_size":157184,"rope_theta":600000,"mask_token_id":156895}`: {Int4: 10.8 - 0.94}, // without pages of the file
		`{"model_type":"mdlm","hidden_dim":768,"cond_dim":128,"n_blocks":12,"n_heads":12,"model_length":1024,"vocab_size":50258}`: {Float32: 0.708, Int8: 0.469, Int4: 0.470},
	} {
		c := reftest.Must(checkpoint.ParseConfig([]byte(config)))(t)
		for d, peak := range peaks {
			got := float64(reftest.Must(Memory(c, d))(t)) / (1 << 30)
			if got > 1.05*peak || got < peak-0.15 {
				t.Errorf("%s in %s: %.2f GiB, measured %.2f", c.Family, d, got, peak)
			}
		}
	}
}
