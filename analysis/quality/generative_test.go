package quality_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/quality"
	"mdmgen/internal/reftest"
	"mdmgen/model/causal"
	"mdmgen/model/ort"
	"mdmgen/model/ort/orttest"
	"mdmgen/tokenize"
)

// lengths is an evaluator that gives token id at position l, counted in its window, the
// probability e^(−id−l/1000): what is scored, and with how much context, can be read off.
type lengths struct {
	fixed   int
	windows []causal.Window
}

func (f *lengths) Columns() int { return 387 }
func (f *lengths) Length() int  { return f.fixed }
func (f *lengths) LogProbs(_ context.Context, windows []causal.Window) ([][]float64, error) {
	f.windows = append(f.windows, windows...)
	out := make([][]float64, len(windows))
	for i, w := range windows {
		for l := w.From; l < len(w.IDs); l++ {
			out[i] = append(out[i], -float64(w.IDs[l])-float64(l)/1000)
		}
	}
	return out, nil
}

func gpt2(t *testing.T) *tokenize.Tokenizer {
	t.Helper()
	tok, err := tokenize.Open(t.Context(), reftest.Data(t, "tokenizers", "gpt2.tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestProtocols checks which tokens are scored, with how much before them.
func TestProtocols(t *testing.T) {
	tok := gpt2(t)
	const text = "0123456789" // a token a digit
	ids, err := tok.Encode(text)
	if err != nil || len(ids) != 10 {
		t.Fatal(ids, err)
	}
	var sum float64
	for _, id := range ids {
		sum += float64(id)
	}
	last := float64(ids[9] + ids[8])
	for _, c := range []struct {
		name        string
		cfg         quality.GenerativeConfig
		tokens, cut int
		// nats is of the ids, places the sum of positions within windows.
		nats   float64
		places int
	}{
		{"no first token", quality.GenerativeConfig{}, 9, 0, sum - float64(ids[0]), 45},
		{"end of text first", quality.GenerativeConfig{BOS: "eos"}, 10, 0, sum, 55},
		// Windows 0..5, 3..8 and 6..10 of eleven tokens, three of each given but the first's.
		{"strides", quality.GenerativeConfig{BOS: "eos", MaxLength: 6, Stride: 3}, 10, 0, sum, 15 + 12 + 7},
		{"half is the stride", quality.GenerativeConfig{BOS: "eos", MaxLength: 6}, 10, 0, sum, 15 + 12 + 7},
		{"greatest stride", quality.GenerativeConfig{MaxLength: 4, Stride: 3}, 9, 0, sum - float64(ids[0]), 6 + 6 + 6},
		{"truncated", quality.GenerativeConfig{BOS: "eos", MaxLength: 9, Truncate: true}, 8, 2, sum - last, 36},
	} {
		f := &lengths{}
		j, err := quality.NewJudge(f, "sha256:x", tok, c.cfg)
		if err != nil {
			t.Fatal(c.name, err)
		}
		got, err := j.Score(context.Background(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if x := got[0]; x.Tokens != c.tokens || x.Cut != c.cut || math.Abs(x.Nats-c.nats-float64(c.places)/1000) > 1e-9 {
			t.Errorf("%s: %+v, want %v nats and %d places; windows %v", c.name, x, c.nats, c.places, f.windows)
		}
	}
	j, err := quality.NewJudge(&lengths{fixed: 16}, "sha256:x", tok, quality.GenerativeConfig{BOS: "eos"})
	if err != nil {
		t.Fatal(err)
	}
	if p := j.Protocol(); p.MaxLength != 16 || p.Stride != 8 || p.BOS != "eos" || *p.BOSID != 376 || p.Tokenizer != tok.Digest() || p.Model != "sha256:x" {
		t.Errorf("%+v", p)
	}
	for want, c := range map[string]quality.GenerativeConfig{
		"at least 2": {MaxLength: 1}, "graph takes 16": {MaxLength: 17}, "1..15": {Stride: 16}, "must be eos or none": {BOS: "cls"}, "leave one out": {Truncate: true, Stride: 2}, "of -1": {Stride: -1},
	} {
		if _, err := quality.NewJudge(&lengths{fixed: 16}, "", tok, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// TestGenerativeSummary checks both perplexities and the entropy on values by hand.
func TestGenerativeSummary(t *testing.T) {
	j, err := quality.NewJudge(&lengths{}, "", gpt2(t), quality.GenerativeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	got := j.Summarize([]quality.Judged{{Nats: 6, Tokens: 3, Entropy: 1}, {Nats: 1, Tokens: 1, Entropy: 0, Cut: 2}, {}})
	if got.Texts != 2 || got.Unscored != 1 || got.Tokens != 4 || got.Cut != 2 || got.NatsPerToken.Mean != 7./4 || got.Perplexity.Mean != math.Exp(7./4) ||
		math.Abs(got.MeanPerplexity.Mean-(math.Exp(2)+math.E)/2) > 1e-14 || got.Entropy.Mean != 0.5 {
		t.Errorf("%+v", got)
	}
	if b, err := json.Marshal(got); err != nil || !strings.Contains(string(b), `"special_tokens":"matched"`) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestGenerativePerplexity judges texts with an ONNX bigram model, whose perplexity has a
// closed form, in the tokens of its tokenizer.
func TestGenerativePerplexity(t *testing.T) {
	m, err := causal.Open(context.Background(), reftest.Data(t, "foreign", "causal.onnx"), ort.Config{})
	orttest.Opened(t, m, err)
	tok := gpt2(t)
	texts := []string{"Once upon a time there was a king.", "aaaaaaaaaaaaaaaaaaaaaaaa", "", "É\n"}
	j, err := quality.NewJudge(m, m.Origin().Digest, tok, quality.GenerativeConfig{BOS: quality.BOSEOS, MaxLength: 8, Stride: 5})
	if err != nil {
		t.Fatal(err)
	}
	judged, err := j.Score(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var nats float64
	tokens := 0
	for _, text := range texts {
		ids, err := tok.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		before := 376
		for _, id := range ids {
			nats -= bigram(before, id)
			before = id
		}
		tokens += len(ids)
	}
	got := j.Summarize(judged)
	if got.Tokens != tokens || got.Unscored != 1 || math.Abs(got.Perplexity.Mean/math.Exp(nats/float64(tokens))-1) > 1e-5 {
		t.Errorf("%+v, want %v over %d tokens", got, math.Exp(nats/float64(tokens)), tokens)
	}
	if judged[1].Entropy >= judged[0].Entropy {
		t.Errorf("a repeated letter has the entropy %v, a sentence %v", judged[1].Entropy, judged[0].Entropy)
	}
	// A tokenizer of another model has ids that this one does not know.
	other, err := tokenize.Open(t.Context(), reftest.Builtin(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quality.NewJudge(m, "", other, quality.GenerativeConfig{BOS: quality.BOSEOS}); err == nil || !strings.Contains(err.Error(), "own tokenizer") {
		t.Errorf("another tokenizer: %v", err)
	}
	j, err = quality.NewJudge(m, "", other, quality.GenerativeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Score(context.Background(), texts); err == nil || !strings.Contains(err.Error(), "tokenizer its own") {
		t.Errorf("another tokenizer: %v", err)
	}
}

// bigram is log p(b|a) of testdata/foreign/make_causal.py.
func bigram(a, b int) float64 {
	logit := func(v int) float64 {
		return float64(a*7%13-6)/4*float64(v*3%17-8)/8 + float64(a*5%11-5)/4*float64(v*11%19-9)/8
	}
	var sum float64
	for v := range 387 {
		sum += math.Exp(logit(v))
	}
	return logit(b) - math.Log(sum)
}
