package graph

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
)

// A network whose σ is always 0 and the same network called with σ = 0 have the same rows: folding
// computes what the graph computes.
func TestFoldedEqualsUnfolded(t *testing.T) {
	dir := reftest.Data(t, "reference", "checkpoints", "mdlm")
	told := folder(t, dir)
	told["config.json"].Data = bytes.Replace(told["config.json"].Data, []byte(`"time_conditioning": false`), []byte(`"time_conditioning": true`), 1)
	a, b := plain(t, "mdlm"), built(t, inMemory(t, told), Options{})
	for n, g := range goldenCases(t, "mdlm") {
		g.positions = everywhere(g.rows, g.length)
		folded := g.run(t, a)
		g.sigma = make([]float32, g.rows)
		if d := distance(t, folded, g.run(t, b)); d > goldenLimit {
			t.Errorf("case %d: logits differ by %.3g", n, d)
		}
		for i := range g.sigma {
			g.sigma[i] = 1
		}
		if d := distance(t, folded, g.run(t, b)); d < 1e-2 {
			t.Errorf("case %d: σ = 1 moves the logits by %.3g only", n, d)
		}
	}
}

// Attention is bidirectional: the last id changes the first row, and the first id the last row.
func TestBidirectional(t *testing.T) {
	for _, name := range []string{"mdlm", "radd", "sedd", "llada-gqa-bf16", "dream-tied-fp16", "qwen2", "qwen3", "bert"} {
		s := plain(t, name)
		g := goldenCases(t, name)[0]
		g.positions = slices.Repeat([]int64{0, int64(g.length) - 1}, g.rows)
		before := g.run(t, s)
		for _, changed := range []int{0, g.length - 1} {
			c := g.call
			c.ids = slices.Clone(g.ids)
			c.ids[changed] = (c.ids[changed] + 1) % 100
			after := c.run(t, s)
			from := 0
			if changed == 0 {
				from = g.columns // the row of the last position
			}
			d := distance(t, before[from:from+g.columns], after[from:from+g.columns])
			if d < 1e-4 {
				t.Errorf("%s: changing position %d moves the other end by %.3g only", name, changed, d)
			}
			if d := distance(t, before[2*g.columns:], after[2*g.columns:]); d > goldenLimit {
				t.Errorf("%s: changing canvas 0 moves another canvas by %.3g", name, d)
			}
		}
	}
}

// The first block computes equal ids once for a small vocabulary, in tables. For a large one only
// the embeddings and the rows are as long as the vocabulary. Canvases of one id, of distinct ids,
// and of both, alone or together, have the same rows as in a graph without sharing.
func TestSharingMovesNothing(t *testing.T) {
	for _, v := range []struct {
		config string
		ids    int64
	}{
		{`{"tokens":40,"model":{"type":"ddit_wot","hidden_size":32,"length":24,"n_blocks":3,"n_heads":2}}`, 41},
		{largeVocabulary, 90001},
		{`{"architectures":["A2DQwen3LMHeadModel"],"hidden_size":16,"intermediate_size":12,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":6,
			"vocab_size":90000,"max_position_embeddings":24,"rope_theta":10000,"mask_token_id":5,"tie_word_embeddings":true}`, 90000},
		{`{"architectures":["DreamModel"],"hidden_size":16,"intermediate_size":12,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
			"vocab_size":40,"max_position_embeddings":24,"rope_theta":10000,"mask_token_id":5}`, 40},
	} {
		c := random(t, v.config)
		m := reftest.Must(Build(t.Context(), c, Options{}))(t)
		if bytes.Contains(m.Bytes, []byte("ScatterElements")) {
			t.Errorf("%d ids: marks ids in a line of the vocabulary", v.ids)
		}
		shared, kind := session(t, ort.Source{Bytes: m.Bytes}), c.Config.Network()
		usual := kinds[kind]
		kinds[kind] = func(s *stream) layers { return apart{usual(s), s} }
		plain := built(t, c, Options{})
		kinds[kind] = usual
		r := rand.New(rand.NewPCG(5, 6))
		for _, k := range []struct {
			rows, length int
			ids          int64
		}{{1, 8, 1}, {4, 5, 1}, {1, 24, v.ids}, {3, 7, 5}, {2, 1, v.ids}, {5, 4, v.ids}} {
			one := call{rows: k.rows, ids: make([]int64, k.rows*k.length)}
			for i := range one.ids {
				one.ids[i] = r.Int64N(k.ids)
			}
			one.positions = everywhere(k.rows, k.length)
			want := one.run(t, plain)
			if d := distance(t, one.run(t, shared), want); d > goldenLimit {
				t.Errorf("%d canvases of %d positions with %d ids: logits differ by %.3g", k.rows, k.length, k.ids, d)
			}
		}
	}
}

// apart is a network that computes each position separately.
type apart struct {
	layers
	s *stream
}

func (a apart) embed() string {
	table, line := a.s.table()
	return a.s.b.op("Gather", table, line)
}

// 16-bit weights are equivalent to float32 weights of the same values: the networks agree to the
// last bit.
func TestNarrowWeightsAreWidenedExactly(t *testing.T) {
	const config = `{"model_type":"mdlm","hidden_dim":32,"cond_dim":8,"n_blocks":2,"n_heads":2,"model_length":16,"vocab_size":50}`
	for _, dtype := range []checkpoint.Dtype{checkpoint.F16, checkpoint.BF16} {
		narrow := checkpointtest.Folder(config, "backbone.", dtype, 7)
		f := reftest.Must(checkpoint.FileOf(narrow["model.safetensors"].Data))(t)
		var wide []checkpoint.Tensor
		for _, name := range f.Names() {
			x, _ := f.Tensor(name)
			wide = append(wide, checkpointtest.Tensor(name, checkpoint.F32, reftest.Must(x.Float32s())(t), x.Shape...))
		}
		same := fstest.MapFS{"config.json": narrow["config.json"], "model.safetensors": {Data: checkpointtest.Encode(nil, wide...)}}
		c := call{rows: 1, ids: []int64{1, 49, 49, 7, 30, 49}, positions: []int64{1, 2, 5}}
		a, b := c.run(t, built(t, inMemory(t, narrow), Options{})), c.run(t, built(t, inMemory(t, same), Options{}))
		if !slices.Equal(a, b) {
			t.Errorf("%s: logits differ by %.3g from those of the same weights as F32", dtype, distance(t, a, b))
		}
		if slices.ContainsFunc(a, func(x float32) bool { return math.IsNaN(float64(x)) || x == 0 }) {
			t.Errorf("%s: logits %v", dtype, a[:8])
		}
	}
}
