package graph

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
	"mdmgen/samplers/draw"
)

// best runs the head that draws at the wanted positions, in turn, one for each uniform.
func (c call) best(t testing.TB, s *ort.Session, uniforms, temperatures []float64, top int) []draw.Best {
	t.Helper()
	n := len(uniforms)
	width := max(top, 1)
	one, several := []int64{int64(n)}, []int64{int64(n), int64(width)}
	take := everywhere(1, n)
	for i := range take {
		take[i] %= int64(len(c.positions))
	}
	heats := []int64{int64(len(temperatures))}
	tokens, topTokens := make([]int64, n), make([]int64, n*width)
	logP, entropy, topLogP := make([]float64, n), make([]float64, n), make([]float64, n*width)
	c.ask(t, s, []ort.Tensor{
		{Name: "take_best", Shape: one, Int64: take}, {Name: "uniforms", Shape: one, Float64: uniforms},
		{Name: "temperatures", Shape: heats, Float64: temperatures}, {Name: "top", Shape: []int64{1}, Int64: []int64{int64(top)}},
	}, []ort.Tensor{
		{Name: "token", Shape: one, Int64: tokens}, {Name: "log_p", Shape: one, Float64: logP}, {Name: "entropy", Shape: one, Float64: entropy},
		{Name: "top_tokens", Shape: several, Int64: topTokens}, {Name: "top_log_p", Shape: several, Float64: topLogP},
	})
	out := make([]draw.Best, n)
	for i := range out {
		out[i] = draw.Best{Token: int(tokens[i]), LogP: logP[i], Entropy: entropy[i]}
		for j := range top {
			out[i].Top = append(out[i].Top, draw.Scored{Token: int(topTokens[i*top+j]), LogP: topLogP[i*top+j]})
		}
	}
	return out
}

// largeVocabulary is a network with too many ids for tables of the first block.
const largeVocabulary = `{"tokens":90000,"model":{"type":"ddit_wot","hidden_size":16,"length":65,"n_blocks":2,"n_heads":2}}`

// The head that draws returns what Go computes from the same rows: for each family, from one row to
// several chunks, one block of columns and many, at several temperatures, whatever columns are
// excluded.
func TestBest(t *testing.T) {
	for _, v := range []struct {
		name    string
		c       *checkpoint.Checkpoint
		padding []int
		shapes  [][3]int // rows, length, wanted
	}{
		{"mdlm", published(t, "mdlm"), nil, [][3]int{{1, 1, 1}, {3, 9, 4}, {1, 20, 32}}},
		{"mdlm-timecond", published(t, "mdlm-timecond"), nil, [][3]int{{2, 9, 4}}},
		{"radd", published(t, "radd"), []int{0, 17}, [][3]int{{2, 9, 4}}},
		{"sedd", published(t, "sedd"), []int{3}, [][3]int{{2, 9, 4}}},
		{"sedd-noscale", published(t, "sedd-noscale"), nil, [][3]int{{2, 9, 4}}},
		{"llada-gqa-bf16", published(t, "llada-gqa-bf16"), []int{109, 110}, [][3]int{{2, 9, 4}}},
		{"dream-tied-fp16", published(t, "dream-tied-fp16"), nil, [][3]int{{2, 9, 4}}},
		{"bert", published(t, "bert"), nil, [][3]int{{2, 9, 4}}},
		{"two blocks of columns", random(t, `{"tokens":300,"model":{"type":"ddit_wot","hidden_size":16,"length":65,"n_blocks":2,"n_heads":2}}`), []int{299}, [][3]int{{1, 9, 1}, {5, 20, 26}}},
		{"90,000 tokens", random(t, largeVocabulary), []int{89_999}, [][3]int{{1, 9, 1}, {2, 9, 5}}},
		{"of a GPU", random(t, largeVocabulary), nil, [][3]int{{2, 9, 5}}}, // in one chunk
	} {
		f := reftest.Must(v.c.Facts(t.Context()))(t)
		f.Padding = v.padding
		s := built(t, v.c, Options{Facts: &f, GPU: v.name == "of a GPU"})
		r := rand.New(rand.NewPCG(7, 8))
		for n, shape := range v.shapes {
			one := drawn(r, f, shape)
			uniforms, temperatures := make([]float64, len(one.positions)), make([]float64, len(one.positions))
			for i := range uniforms {
				one.positions[i] = r.Int64N(int64(shape[1]))
				uniforms[i] = []float64{(float64(r.Int64N(1<<53-1)) + 1) * 0x1p-53, 0x1p-53, 1 - 0x1p-53}[max(r.IntN(6)-3, 0)]
				temperatures[i] = []float64{1, 0.7, 0, 2}[r.IntN(4)]
			}
			logits := one.run(t, s)
			ones := slices.Repeat([]float64{1}, len(temperatures))
			for part, heats := range [][]float64{temperatures, ones, nil} { // the last uses a branch of its own
				top := 0
				if part == 0 {
					top = 1 + n*4
				} else {
					temperatures = ones
				}
				for i, got := range one.best(t, s, uniforms, heats, top) {
					categorical := reftest.Must(draw.NewCategorical(f.Spec().Vocabulary, draw.Settings{Temperature: &temperatures[i]}))(t)
					want := reftest.Must(categorical.Best(draw.Single(logits[i*f.Columns:(i+1)*f.Columns]), uniforms[i], top))(t)
					same := got.Token == want.Token && math.Abs(got.LogP-want.LogP) <= 1e-6 && math.Abs(got.Entropy-want.Entropy) <= 1e-6
					for j, x := range want.Top {
						same = same && got.Top[j].Token == x.Token && math.Abs(got.Top[j].LogP-x.LogP) <= 1e-6
					}
					if !same {
						t.Fatalf("%s, %v, row %d, u = %v, temperature %v: %+v, want %+v", v.name, shape, i, uniforms[i], temperatures[i], got, want)
					}
				}
			}
		}
	}
}

// Heads used in one call do not affect each other, and rows of one canvas that no head takes do not
// affect another's.
func TestHeadsTogether(t *testing.T) {
	for _, name := range []string{"mdlm", "sedd"} {
		s := plain(t, name)
		one := call{rows: 2, ids: []int64{112, 3, 112, 7, 112, 112}, positions: []int64{0, 2, 1, 1, 2, 0}}
		if name == "sedd" {
			one.sigma = []float32{0.3, 1.5}
		}
		logits := one.run(t, s)
		logMu, _ := one.logProbs(t, s, []int64{1, 2, 3, 4, 5, 6})
		best := one.best(t, s, slices.Repeat([]float64{0.4}, 6), slices.Repeat([]float64{1}, 6), 1)

		columns := len(logits) / 6
		rows, mu, mass := make([]float32, 2*columns), make([]float64, 1), make([]float64, 1)
		token, numbers := make([]int64, 2), make([]float64, 2)
		again, entropy, topLogP := make([]int64, 2), make([]float64, 2), make([]float64, 2)
		one.ask(t, s, []ort.Tensor{
			{Name: "take_rows", Shape: []int64{2}, Int64: []int64{5, 1}}, {Name: "take_given", Shape: []int64{1}, Int64: []int64{3}}, {Name: "targets", Shape: []int64{1}, Int64: []int64{4}},
			{Name: "take_best", Shape: []int64{2}, Int64: []int64{4, 0}}, {Name: "uniforms", Shape: []int64{2}, Float64: []float64{0.4, 0.4}}, {Name: "temperatures", Shape: []int64{2}, Float64: []float64{1, 1}},
		}, []ort.Tensor{
			{Name: "logits", Shape: []int64{2, int64(columns)}, Float32: rows}, {Name: "log_mu", Shape: []int64{1}, Float64: mu}, {Name: "log_mass", Shape: []int64{1}, Float64: mass},
			{Name: "token", Shape: []int64{2}, Int64: token}, {Name: "log_p", Shape: []int64{2}, Float64: numbers}, {Name: "entropy", Shape: []int64{2}, Float64: entropy},
			{Name: "top_tokens", Shape: []int64{2, 1}, Int64: again}, {Name: "top_log_p", Shape: []int64{2, 1}, Float64: topLogP},
		})
		if d := max(distance(t, rows[:columns], logits[5*columns:]), distance(t, rows[columns:], logits[columns:2*columns])); d > goldenLimit {
			t.Errorf("%s: rows differ by %.3g", name, d)
		}
		if !(math.Abs(mu[0]-logMu[3]) <= goldenLimit) {
			t.Errorf("%s: log μ is %v, alone %v", name, mu[0], logMu[3])
		}
		for i, at := range []int{4, 0} {
			if want := best[at]; token[i] != int64(want.Token) || !(math.Abs(numbers[i]-want.LogP) <= goldenLimit) || again[i] != int64(want.Top[0].Token) {
				t.Errorf("%s: row %d: token %d, log p %v, alone %+v", name, at, token[i], numbers[i], want)
			}
		}
	}
}
