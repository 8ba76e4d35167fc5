package quality

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/model/causal"
	"mdmgen/tokenize"
)

// Evaluator is a causal language model that judges texts; [causal.Model] is one.
type Evaluator interface {
	// LogProbs returns log p(id | ids before), in nats, of the tokens From… of each window.
	LogProbs(ctx context.Context, windows []causal.Window) ([][]float64, error)
	// Columns is the number of ids, Length the length of a window that the graph fixes, 0 if
	// none.
	Columns() int
	Length() int
}

// The readings of a text's beginning.
const (
	// BOSEOS puts the evaluator's end-of-text token before the text, as GPT-2 was trained;
	// all tokens of the text are scored.
	BOSEOS = "eos"
	// BOSNone puts nothing: the first token is not scored.
	BOSNone = "none"
)

// GenerativeConfig says how generative perplexity is measured: decoded text, in the
// evaluator's own tokens, each scored given those before it, end-of-text tokens like any
// other. (The scripts of MDLM and its successors count the first end of text of a chunk and
// no other.)
type GenerativeConfig struct {
	// BOS is [BOSEOS] or [BOSNone]; "" is none: the shifted loss of a causal model.
	BOS string
	// MaxLength is the evaluator's context in tokens, what stands before the text included; 0
	// is 1024, GPT-2's, or what the graph fixes.
	MaxLength int
	// Stride is how many new tokens each window after the first scores, in 1..MaxLength−1; 0
	// is half of MaxLength (as in the evaluation of block diffusion, arXiv 2503.09573).
	// A token has at least MaxLength − Stride tokens before it.
	Stride int
	// Truncate leaves out what is beyond MaxLength instead.
	Truncate   bool
	Confidence float64
}

// Protocol is what a generative perplexity must be stated with: none of it may differ
// between numbers that are compared.
type Protocol struct {
	// Model and Tokenizer are digests of the evaluator's.
	Model     string `json:"evaluator"`
	Tokenizer string `json:"tokenizer"`
	BOS       string `json:"bos"`
	// BOSID is the token that was put first, nil where none was.
	BOSID     *int `json:"bos_id,omitempty"`
	MaxLength int  `json:"max_length"`
	Stride    int  `json:"stride,omitempty"`
	Truncated bool `json:"truncated"`
	// SpecialTokens says how text that spells a special token is read.
	SpecialTokens string `json:"special_tokens"`
}

// Judge measures the generative perplexity of texts.
type Judge struct {
	evaluator Evaluator
	tokenizer *tokenize.Tokenizer
	cfg       GenerativeConfig
	protocol  Protocol
	cut       tokenize.Cut
	bos       []int
}

// NewJudge checks the protocol. digest is the evaluator's, for the record. The tokenizer
// must be the evaluator's own.
func NewJudge(e Evaluator, digest string, t *tokenize.Tokenizer, cfg GenerativeConfig) (*Judge, error) {
	if cfg.BOS == "" {
		cfg.BOS = BOSNone
	}
	if cfg.MaxLength == 0 {
		cfg.MaxLength = 1024
		if n := e.Length(); n > 0 {
			cfg.MaxLength = n
		}
	}
	switch n := e.Length(); {
	case cfg.MaxLength < 2:
		return nil, fault.Errorf("quality", "a context of %d tokens: must be at least 2", cfg.MaxLength)
	case n > 0 && cfg.MaxLength > n:
		return nil, fault.Errorf("quality", "a context of %d tokens: the evaluator's graph takes %d", cfg.MaxLength, n)
	case cfg.Truncate && cfg.Stride != 0:
		return nil, fault.Errorf("quality", "a stride has no meaning where texts are truncated: leave one out")
	}
	if cfg.Stride == 0 {
		cfg.Stride = max(1, cfg.MaxLength/2)
	}
	if cfg.Stride < 1 || cfg.Stride >= cfg.MaxLength {
		return nil, fault.Errorf("quality", "a stride of %d: must be in 1..%d, so that every token has one before it", cfg.Stride, cfg.MaxLength-1)
	}
	j := &Judge{evaluator: e, tokenizer: t, cfg: cfg}
	j.protocol = Protocol{Model: digest, Tokenizer: t.Digest(), BOS: cfg.BOS, MaxLength: cfg.MaxLength, Truncated: cfg.Truncate, SpecialTokens: "matched"}
	if !cfg.Truncate {
		j.protocol.Stride = cfg.Stride
	}
	j.cut = tokenize.Cut{Length: cfg.MaxLength, Context: cfg.MaxLength - cfg.Stride, BOS: tokenize.None, EOS: tokenize.None}
	switch cfg.BOS {
	case BOSNone:
	case BOSEOS:
		_, eos, err := t.Frame()
		if err != nil {
			return nil, err
		}
		if eos >= e.Columns() {
			return nil, fault.Errorf("quality", "the tokenizer's end-of-text token is %d, but the evaluator knows ids 0..%d: give the evaluator's own tokenizer", eos, e.Columns()-1)
		}
		j.bos, j.protocol.BOSID = []int{eos}, &eos
	default:
		return nil, fault.Errorf("quality", "%q before a text: must be %s or %s", cfg.BOS, BOSEOS, BOSNone)
	}
	return j, nil
}

// Protocol is what the numbers must be stated with.
func (j *Judge) Protocol() Protocol { return j.protocol }

// Judged is what an evaluator says of one text.
type Judged struct {
	// Nats is −Σ log p over Tokens scored tokens.
	Nats   float64 `json:"nats"`
	Tokens int     `json:"tokens"`
	// Cut counts tokens that truncation left out.
	Cut int `json:"cut,omitempty"`
	// Entropy is that of the frequencies of the evaluator's tokens in the text, in nats; see
	// [Text.Entropy].
	Entropy float64 `json:"entropy"`
}

// Score judges texts. It is decoded text that is judged, in the evaluator's own tokens,
// special tokens that the text spells included.
func (j *Judge) Score(ctx context.Context, texts []string) ([]Judged, error) {
	out := make([]Judged, len(texts))
	var windows []causal.Window
	var owner []int
	for i, text := range texts {
		tokens, err := j.tokenizer.Encode(text)
		if err != nil {
			return nil, err
		}
		ids := slices.Concat(j.bos, tokens)
		if j.cfg.Truncate && len(ids) > j.cfg.MaxLength {
			out[i].Cut = len(ids) - j.cfg.MaxLength
			ids = ids[:j.cfg.MaxLength]
		}
		if len(ids) > len(j.bos) {
			out[i].Entropy = Describe(ids[len(j.bos):], tokenize.None).Entropy
		}
		for w := range j.cut.All(ids) {
			windows, owner = append(windows, causal.Window{IDs: w.IDs, From: max(w.Context, 1)}), append(owner, i)
		}
	}
	logs, err := j.evaluator.LogProbs(ctx, windows)
	if err != nil {
		return nil, err
	}
	for k, values := range logs {
		for _, x := range values {
			out[owner[k]].Nats -= x
		}
		out[owner[k]].Tokens += len(values)
	}
	return out, nil
}

// Generative sums up what an evaluator says of texts.
type Generative struct {
	Protocol Protocol `json:"protocol"`
	// Texts counts texts with a scored token, Unscored those without, Tokens the scored
	// tokens and Cut those that truncation left out.
	Texts    int `json:"texts"`
	Unscored int `json:"unscored,omitempty"`
	Tokens   int `json:"tokens"`
	Cut      int `json:"cut,omitempty"`
	// NatsPerToken is Σ nats / Σ tokens over the texts, Perplexity its exponential: the
	// generative perplexity of the corpus. MeanPerplexity is the mean over texts of
	// exp(nats/tokens), which is larger, and larger still where a few texts are bad.
	NatsPerToken   estimate.Estimate `json:"nats_per_token"`
	Perplexity     estimate.Estimate `json:"perplexity"`
	MeanPerplexity estimate.Estimate `json:"mean_perplexity"`
	// Entropy is the mean unigram entropy of a text in the evaluator's tokens, in nats. A low
	// perplexity with a low entropy means repetition, not quality: neither number may
	// stand alone.
	Entropy estimate.Estimate `json:"entropy"`
}

// PerplexityNote is what must stand beside a generative perplexity.
const PerplexityNote = "A low generative perplexity with a low unigram entropy means repetition and not quality: read the two together, and compare only numbers of one protocol."

// Summarize sums up judged texts, the units of all errors.
func (j *Judge) Summarize(judged []Judged) Generative {
	out := Generative{Protocol: j.protocol}
	var nats, tokens, perplexities, entropies []float64
	for _, x := range judged {
		out.Cut += x.Cut
		if x.Tokens == 0 {
			out.Unscored++
			continue
		}
		out.Texts++
		out.Tokens += x.Tokens
		nats, tokens = append(nats, x.Nats), append(tokens, float64(x.Tokens))
		perplexities = append(perplexities, math.Exp(x.Nats/float64(x.Tokens)))
		entropies = append(entropies, x.Entropy)
	}
	out.NatsPerToken = estimate.Ratio(nats, tokens, nil, j.cfg.Confidence)
	out.Perplexity = out.NatsPerToken.Map(math.Exp, math.Exp)
	out.MeanPerplexity = estimate.Mean(perplexities, j.cfg.Confidence)
	out.Entropy = estimate.Mean(entropies, j.cfg.Confidence)
	return out
}
