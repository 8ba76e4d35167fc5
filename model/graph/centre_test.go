package graph

import (
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// TestRowsLackTheirMean checks that rows which lack their measured means leave a network the same, that
// no means are left in them, and that 8 bits lose less so if rows have much in common.
func TestRowsLackTheirMean(t *testing.T) {
	t.Parallel()
	c := reftest.Must(checkpoint.OpenFS(checkpointtest.Folder(`{"architectures":["BertForMaskedLM"],"model_type":"bert","hidden_size":64,"num_hidden_layers":2,`+
		`"num_attention_heads":4,"intermediate_size":96,"max_position_embeddings":24,"vocab_size":40,"type_vocab_size":2,"mask_token_id":5,"hidden_act":"gelu"}`, "", checkpoint.F32, 1), "means"))(t)
	for s := range c.Config.Tensors() {
		if strings.HasSuffix(s.Name, "LayerNorm.bias") {
			v := vector(c, s.Name)
			for i := range v {
				v[i] *= 4
			}
			copy(c.Tensor(s.Name).Data, checkpointtest.Tensor(s.Name, checkpoint.F32, v, s.Shape...).Data)
		}
	}
	survey := orttest.OneThread.Survey
	o := Options{Dtype: Int8, Survey: survey}
	err := o.centre(t.Context(), c)
	orttest.Need(t, err)
	reftest.OK(t, err)
	means := o.means
	if m := largest(means); m*m < 1 {
		t.Errorf("the largest mean is %.3g", m)
	}
	o.Dtype = Float32
	g := call{rows: 2, ids: make([]int64, 48)}
	for i := range g.ids {
		g.ids[i] = int64(i * i % 40)
	}
	g.positions = everywhere(2, 24)
	want := g.run(t, built(t, c, Options{}))
	if d := distance(t, want, g.run(t, built(t, c, o))); d > goldenLimit {
		t.Errorf("logits of rows without their means differ by %.3g", d)
	}
	with, without := distance(t, want, g.run(t, built(t, c, Options{Dtype: Int8}))), distance(t, want, g.run(t, built(t, c, Options{Dtype: Int8, Survey: survey})))
	t.Logf("8 bits move logits by %.3g, without means by %.3g", with, without)
	if without > with/2 {
		t.Errorf("8 bits move logits by %.3g, without means by %.3g", with, without)
	}
	m := reftest.Must(Build(t.Context(), c, Options{measures: true, means: means}))(t)
	left := make([]float32, len(means))
	reftest.OK(t, survey(t.Context(), m.Bytes, m.ExternalDir, slices.Repeat([]int64{5}, 24), 64, left))
	if x := largest(left); x*x > 1e-8 {
		t.Errorf("a mean of %.3g is left", x)
	}
}
