package quality

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/model/causal"
	"mdmgen/tokenize"
)

// Evaluator is a causal language model that scores texts, such as [causal.Model].
type Evaluator interface {
	// LogProbs returns log p(id | previous ids), in nats, of the tokens From… of each window.
	LogProbs(ctx context.Context, windows []causal.Window) ([][]float64, error)
	// Columns returns the number of ids.
	Columns() int
	// Length returns the greatest number of tokens in a window, 0 if unknown.
	Length() int
}

// The protocols, which define how public code reads samples. All but [SEDD] score decoded text in
// the evaluator's own tokens.
const (
	// Sliding reads the whole text in windows of the evaluator's context, each half of it further
	// than the previous one, and scores every token.
	Sliding = "sliding"
	// MDLM is the protocol of MDLM (arXiv 2406.07524) and of most later work: as many of the
	// evaluator's tokens as the sample has of its own, in disjoint windows whose first token is not
	// scored. Only the first end of text in a window counts.
	MDLM = "mdlm"
	// BD3LM is the protocol of block diffusion (arXiv 2503.09573): as many tokens as in MDLM, in
	// the windows of Sliding, and no end of text counts.
	BD3LM = "bd3lm"
	// SEDD is the protocol of SEDD (arXiv 2310.16834) and RADD: the sample's own ids, which must be
	// the evaluator's, at most one context of them. Its number is the mean of the perplexities.
	SEDD = "sedd"
)

// Protocols returns the names of the protocols.
func Protocols() []string { return []string{Sliding, MDLM, BD3LM, SEDD} }

// reading describes how a protocol reads samples.
type reading struct {
	// own reads the sample's ids; cut drops tokens beyond the sample's length; disjoint windows do
	// not overlap.
	own, cut, disjoint bool
	// ends is the number of ends of text in a window that count, negative for all.
	ends int
}

var readings = map[string]reading{
	Sliding: {ends: -1},
	MDLM:    {cut: true, disjoint: true, ends: 1},
	BD3LM:   {cut: true},
	SEDD:    {own: true, ends: -1},
}

// Protocol must be stated with a generative perplexity: numbers are comparable only if all its
// fields agree.
type Protocol struct {
	// Name is the name of the protocol.
	Name string `json:"name"`
	// Model and Tokenizer are digests of the evaluator and its tokenizer.
	Model     string `json:"evaluator"`
	Tokenizer string `json:"tokenizer"`
	MaxLength int    `json:"max_length"`
	// Stride is the number of new tokens in each window after the first.
	Stride int `json:"stride"`
	// SpecialTokens describes how text that spells a special token is read.
	SpecialTokens string `json:"special_tokens"`
}

// Note describes how texts are read and how to interpret the numbers.
func (p Protocol) Note() string {
	text, how := "decoded text in the evaluator's own tokens", fmt.Sprintf("windows of %d tokens, %d apart", p.MaxLength, p.Stride)
	if readings[p.Name].own {
		text, how = "the samples' own tokens", fmt.Sprintf("at most %d, and the mean over samples", p.MaxLength)
	}
	return fmt.Sprintf("generative perplexity is the perplexity of the samples under the evaluator: %s, protocol %s (%s). "+
		"A low one with a low unigram entropy means repetition, not quality: read the two together, and compare only numbers of one protocol.", text, p.Name, how)
}

// Judge measures the generative perplexity of texts.
type Judge struct {
	evaluator  Evaluator
	tokenizer  *tokenize.Tokenizer
	confidence float64
	reading    reading
	protocol   Protocol
	cut        tokenize.Cut
	// eos is the evaluator's end of text, negative if the protocol does not need it.
	eos int
}

// NewJudge returns a judge by a protocol, one of [Protocols] or "" for [Sliding], whose estimates have a
// confidence. Texts are read up to the evaluator's context, 1024 tokens, GPT-2's, if it is unknown. digest
// identifies the evaluator in records. The tokenizer must be the evaluator's own.
func NewJudge(e Evaluator, digest string, t *tokenize.Tokenizer, protocol string, confidence float64) (*Judge, error) {
	name, most := cmp.Or(protocol, Sliding), cmp.Or(e.Length(), 1024)
	r, ok := readings[name]
	switch {
	case !ok:
		return nil, fault.Errorf("quality", "protocol %q: must be one of %s", name, strings.Join(Protocols(), ", "))
	case most < 2:
		return nil, fault.Errorf("quality", "a context of %d tokens: must be at least 2", most)
	}
	j := &Judge{evaluator: e, tokenizer: t, confidence: confidence, reading: r, eos: tokenize.None}
	stride := most
	if !r.disjoint && !r.own {
		stride = max(1, most/2)
	}
	j.protocol = Protocol{Name: name, Model: digest, Tokenizer: t.Digest(), MaxLength: most, Stride: stride, SpecialTokens: "matched"}
	j.cut = tokenize.Cut{Length: most, Context: most - stride, BOS: tokenize.None, EOS: tokenize.None}
	if r.ends < 0 {
		return j, nil
	}
	var err error
	_, j.eos, err = t.Frame()
	if err == nil && j.eos >= e.Columns() {
		err = fault.Errorf("quality", "the tokenizer's end-of-text token is %d, but the evaluator knows ids 0..%d: give the evaluator's own tokenizer", j.eos, e.Columns()-1)
	}
	return j, err
}

// Protocol returns the protocol that must be stated with the numbers.
func (j *Judge) Protocol() Protocol { return j.protocol }

// Generated is a text to judge, with the ids that it was decoded from.
type Generated struct {
	Text string
	IDs  []int
}

// Judged is the score of one text.
type Judged struct {
	// Nats is −Σ log p over Tokens scored tokens.
	Nats   float64
	Tokens int
	// Entropy is the entropy of the frequencies of the evaluator's tokens in the text, in nats; see
	// [Text.Entropy].
	Entropy float64
}

// Score scores texts.
func (j *Judge) Score(ctx context.Context, samples []Generated) ([]Judged, error) {
	out := make([]Judged, len(samples))
	var windows []causal.Window
	var owner []int
	for i, s := range samples {
		tokens, err := j.read(s)
		if err != nil {
			return nil, err
		}
		if tokens = tokens[:min(len(tokens), j.limit(s))]; len(tokens) > 0 {
			out[i].Entropy = Describe(tokens, tokenize.None).Entropy
		}
		for w := range j.cut.All(tokens) {
			windows, owner = append(windows, causal.Window{IDs: w.IDs, From: max(w.Context, 1)}), append(owner, i)
		}
	}
	logs, err := j.evaluator.LogProbs(ctx, windows)
	if err != nil {
		return nil, err
	}
	for k, values := range logs {
		ids, ends := windows[k].IDs, 0
		for l, id := range ids {
			if id == j.eos {
				ends++
			}
			if at := l - windows[k].From; at >= 0 && (id != j.eos || j.reading.ends < 0 || ends <= j.reading.ends) {
				out[owner[k]].Nats -= values[at]
				out[owner[k]].Tokens++
			}
		}
	}
	return out, nil
}

// read returns a sample in the evaluator's tokens; text that spells a special token is read as that
// token.
func (j *Judge) read(s Generated) ([]int, error) {
	if !j.reading.own {
		return j.tokenizer.Encode(s.Text)
	}
	if text, err := j.tokenizer.Decode(s.IDs); err != nil || text != s.Text {
		return nil, fault.Errorf("quality", "protocol %s scores the ids of samples as they are, but the evaluator's tokens differ from the model's: use another protocol", j.protocol.Name)
	}
	return s.IDs, nil
}

// limit returns the number of a sample's tokens to score.
func (j *Judge) limit(s Generated) int {
	switch {
	case j.reading.cut:
		return len(s.IDs)
	case j.reading.own:
		return j.protocol.MaxLength
	}
	return math.MaxInt
}

// Generative summarizes scored texts.
type Generative struct {
	// Texts counts texts with a scored token, Tokens the scored tokens.
	Texts, Tokens int
	// NatsPerToken is Σ nats / Σ tokens over the texts, Perplexity its exponential: the generative
	// perplexity of the corpus. MeanPerplexity is the mean over texts of exp(nats/tokens), which is
	// larger, and much larger if a few texts are bad.
	NatsPerToken   estimate.Estimate
	Perplexity     estimate.Estimate
	MeanPerplexity estimate.Estimate
	// Entropy is the mean unigram entropy of a text in the evaluator's tokens, in nats. A low
	// perplexity with a low entropy means repetition, not quality, so neither number should be
	// reported alone.
	Entropy estimate.Estimate
}

// Summarize summarizes scored texts, which are the units of all errors.
func (j *Judge) Summarize(judged []Judged) Generative {
	var out Generative
	var nats, tokens, perplexities, entropies []float64
	for _, x := range judged {
		if x.Tokens == 0 {
			continue
		}
		out.Texts++
		out.Tokens += x.Tokens
		nats, tokens = append(nats, x.Nats), append(tokens, float64(x.Tokens))
		perplexities = append(perplexities, math.Exp(x.Nats/float64(x.Tokens)))
		entropies = append(entropies, x.Entropy)
	}
	out.NatsPerToken = estimate.Ratio(nats, tokens, nil, j.confidence)
	out.Perplexity = out.NatsPerToken.Map(math.Exp, math.Exp)
	out.MeanPerplexity = estimate.Skewed(perplexities, j.confidence)
	out.Entropy = estimate.Mean(entropies, j.confidence)
	return out
}
