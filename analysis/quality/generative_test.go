package quality_test

import (
	"context"
	"math"
	"testing"

	"mdmgen/analysis/quality"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model/causal"
	"mdmgen/model/ort"
	"mdmgen/tokenize"
)

// lengths is an evaluator that gives token id at position l of its window the probability
// e^(−id−l/1000), which shows what is scored, and with how much context.
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

// eight is a network that takes texts of eight tokens.
type eight struct{ *causal.Model }

func (eight) Length() int { return 8 }

func gpt2(t *testing.T) *tokenize.Tokenizer {
	t.Helper()
	return reftest.Must(tokenize.Open(t.Context(), reftest.Data(t, "tokenizers", "gpt2.tokenizer.json")))(t)
}

// TestProtocols checks which tokens are scored, and with how much context.
func TestProtocols(t *testing.T) {
	tok := gpt2(t)
	const text, ended = "0123456789", "01<|endoftext|>23<|endoftext|>4" // one token per digit
	for _, c := range []struct {
		name, text, protocol string
		context              int // of the evaluator, 0 if it is unknown
		// length is the sample's length, places the sum of positions within windows.
		length, tokens, places int
		// scored are the tokens that count.
		scored []int
	}{
		{"no first token", text, "", 0, 10, 9, 45, span(1, 10)},
		// Windows 0..5, 3..8 and 6..9 of ten tokens, with three tokens of context in each but the
		// first.
		{"half is the stride", text, "", 6, 10, 9, 15 + 12 + 3, span(1, 10)},
		{"mdlm", text, "mdlm", 4, 8, 6, 6 + 6, []int{1, 2, 3, 5, 6, 7}},
		{"bd3lm", text, "bd3lm", 4, 9, 8, 6 + 5 + 5 + 2, span(1, 9)},
		{"sedd", text, "sedd", 9, 10, 8, 36, span(1, 9)},
		{"all ends", ended, "", 0, 7, 6, 21, span(1, 7)},
		{"the first end", ended, "mdlm", 0, 7, 5, 21 - 5, []int{1, 2, 3, 4, 6}},
		{"no end", ended, "bd3lm", 0, 7, 4, 21 - 5 - 2, []int{1, 3, 4, 6}},
	} {
		ids, err := tok.Encode(c.text)
		if err != nil || c.text == text && len(ids) != 10 || c.text == ended && len(ids) != 7 {
			t.Fatal(ids, err)
		}
		want := float64(c.places) / 1000
		for _, l := range c.scored {
			want += float64(ids[l])
		}
		f := &lengths{fixed: c.context}
		j := reftest.Must(quality.NewJudge(f, "sha256:x", tok, c.protocol, 0))(t, c.name)
		got := reftest.Must(j.Score(context.Background(), []quality.Generated{{Text: c.text, IDs: ids[:min(len(ids), c.length)]}}))(t, c.name)
		if x := got[0]; x.Tokens != c.tokens || math.Abs(x.Nats-want) > 1e-9 {
			t.Errorf("%s: %+v, want %v nats, %d tokens; windows %v", c.name, x, want, c.tokens, f.windows)
		}
	}
	j := reftest.Must(quality.NewJudge(&lengths{fixed: 16}, "sha256:x", tok, "", 0))(t)
	if p := j.Protocol(); p.Name != "sliding" || p.MaxLength != 16 || p.Stride != 8 || p.Tokenizer != tok.Digest() || p.Model != "sha256:x" {
		t.Errorf("%+v", p)
	}
	reftest.Fails(t, reftest.Err(quality.NewJudge(&lengths{fixed: 1}, "", tok, "", 0)), "at least 2")
	reftest.Fails(t, reftest.Err(quality.NewJudge(&lengths{}, "", tok, "gpt", 0)), "must be one of sliding, mdlm")
	j = reftest.Must(quality.NewJudge(&lengths{}, "", tok, "sedd", 0))(t)
	reftest.Fails(t, reftest.Err(j.Score(context.Background(), []quality.Generated{{Text: "another", IDs: []int{5}}})), "use another protocol", "other ids")
}

func span(from, to int) (out []int) {
	for l := from; l < to; l++ {
		out = append(out, l)
	}
	return out
}

// TestGenerativeSummary checks both perplexities and the entropy on values computed by hand.
func TestGenerativeSummary(t *testing.T) {
	j := reftest.Must(quality.NewJudge(&lengths{}, "", gpt2(t), "", 0))(t)
	got := j.Summarize([]quality.Judged{{Nats: 6, Tokens: 3, Entropy: 1}, {Nats: 1, Tokens: 1, Entropy: 0}, {}})
	if got.Texts != 2 || got.Tokens != 4 || got.NatsPerToken.Mean != 7./4 || got.Perplexity.Mean != math.Exp(7./4) ||
		math.Abs(got.MeanPerplexity.Mean-(math.Exp(2)+math.E)/2) > 1e-14 || got.Entropy.Mean != 0.5 {
		t.Errorf("%+v", got)
	}
}

// TestGenerativePerplexity scores texts with an ONNX bigram model, whose perplexity has a closed
// form, in the tokens of its tokenizer.
func TestGenerativePerplexity(t *testing.T) {
	m, err := causal.Open(context.Background(), reftest.Data(t, "foreign", "causal.onnx"), ort.Config{})
	orttest.Opened(t, m, err)
	tok := gpt2(t)
	texts := []string{"Once upon a time there was a king.", "aaaaaaaaaaaaaaaaaaaaaaaa", "", "É\n"}
	j := reftest.Must(quality.NewJudge(eight{m}, m.Origin().Digest, tok, "", 0))(t)
	samples := make([]quality.Generated, len(texts))
	for i, text := range texts {
		samples[i].Text = text
	}
	judged := reftest.Must(j.Score(context.Background(), samples))(t)
	var nats float64
	tokens := 0
	for _, text := range texts {
		ids := reftest.Must(tok.Encode(text))(t)
		for i := 1; i < len(ids); i++ {
			nats -= bigram(ids[i-1], ids[i])
			tokens++
		}
	}
	got := j.Summarize(judged)
	if got.Tokens != tokens || math.Abs(got.Perplexity.Mean/math.Exp(nats/float64(tokens))-1) > 1e-5 {
		t.Errorf("%+v, want %v over %d tokens", got, math.Exp(nats/float64(tokens)), tokens)
	}
	if judged[1].Entropy >= judged[0].Entropy {
		t.Errorf("a repeated letter has the entropy %v, a sentence %v", judged[1].Entropy, judged[0].Entropy)
	}
	// Another model's tokenizer has ids that this evaluator does not know.
	other := reftest.Must(tokenize.Open(t.Context(), reftest.Builtin(t)))(t)
	reftest.Fails(t, reftest.Err(quality.NewJudge(m, "", other, quality.MDLM, 0)), "own tokenizer", "another tokenizer")
	j = reftest.Must(quality.NewJudge(m, "", other, "", 0))(t)
	reftest.Fails(t, reftest.Err(j.Score(context.Background(), samples)), "tokenizer its own", "another tokenizer")
}

// bigram returns log p(b|a) of tools/reference/foreign_causal.py.
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
