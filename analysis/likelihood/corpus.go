package likelihood

import (
	"encoding/json"
	"math"

	"mdmgen/analysis/estimate"
)

// Scored is what is known of one window of a corpus.
type Scored struct {
	// Nats is its value: an estimate, or an exact one with N = 0.
	Nats estimate.Estimate
	// Tokens, Bytes and Words count what was scored; Bytes and Words are below 0 where they are not
	// known. A word is what blanks divide, and counts where it begins.
	Tokens, Bytes, Words int
	// Cluster is a number that windows share which are not independent.
	Cluster int
}

// Known is a value without error, as a window's.
func Known(nats float64) estimate.Estimate {
	return estimate.Estimate{Mean: nats, Lo: nats, Hi: nats, Confidence: 1}
}

// Corpus sums up windows. Its intervals are those of windows as a sample of the text
// that they are from; MonteCarloSE is the part of the error that more draws would
// remove.
type Corpus struct {
	Windows int `json:"windows"`
	Tokens  int `json:"tokens"`
	// Bytes is null where a window's is not known.
	Bytes *int `json:"bytes"`
	// Words is null where a window's is not known.
	Words *int `json:"words"`
	// Ratios of sums over windows, not means of windows' ratios.
	NatsPerToken estimate.Estimate  `json:"nats_per_token"`
	BitsPerToken estimate.Estimate  `json:"bits_per_token"`
	BitsPerByte  *estimate.Estimate `json:"bits_per_byte"`
	// PerplexityBound is exp(NatsPerToken). Where NotBound is set, the windows' values are no bounds, and
	// it is the perplexity, with that name in JSON.
	PerplexityBound estimate.Estimate `json:"perplexity_bound"`
	NotBound        bool              `json:"-"`
	// WordPerplexityBound and BytePerplexityBound are exp of the nats per word and per byte, nil
	// where these are not known; they are named as PerplexityBound is.
	WordPerplexityBound *estimate.Estimate `json:"word_perplexity_bound,omitempty"`
	BytePerplexityBound *estimate.Estimate `json:"byte_perplexity_bound,omitempty"`
	// MonteCarloSE is the standard error of NatsPerToken with the text held fixed, nil where a
	// window has none.
	MonteCarloSE *float64 `json:"monte_carlo_se"`
}

// MarshalJSON calls the perplexity by what it is.
func (c Corpus) MarshalJSON() ([]byte, error) {
	type fields Corpus
	out := struct {
		fields
		PerplexityBound     *estimate.Estimate `json:"perplexity_bound,omitempty"`
		WordPerplexityBound *estimate.Estimate `json:"word_perplexity_bound,omitempty"`
		BytePerplexityBound *estimate.Estimate `json:"byte_perplexity_bound,omitempty"`
		Perplexity          *estimate.Estimate `json:"perplexity,omitempty"`
		WordPerplexity      *estimate.Estimate `json:"word_perplexity,omitempty"`
		BytePerplexity      *estimate.Estimate `json:"byte_perplexity,omitempty"`
	}{fields: fields(c)}
	if c.NotBound {
		out.Perplexity, out.WordPerplexity, out.BytePerplexity = &c.PerplexityBound, c.WordPerplexityBound, c.BytePerplexityBound
	} else {
		out.PerplexityBound, out.WordPerplexityBound, out.BytePerplexityBound = &c.PerplexityBound, c.WordPerplexityBound, c.BytePerplexityBound
	}
	return json.Marshal(out)
}

// Summarize sums up windows; with clustered, those with the same Cluster, which follow each
// other, are one unit.
func Summarize(windows []Scored, clustered bool, confidence float64) Corpus {
	s := Summing{Clustered: clustered}
	for _, w := range windows {
		s.Add(w)
	}
	return s.Corpus(confidence)
}

// Summing is [Summarize] of windows that come one by one and are not kept. The zero value has
// none.
type Summing struct {
	// Clustered makes windows with the same Cluster, which follow each other, one unit.
	Clustered bool

	windows  int
	variance estimate.Sum
	tokens   counted
	// words and bytes are of no use where those of a window are not known.
	words, bytes counted
}

// counted is nats by the number of something.
type counted struct {
	total   int
	unknown bool
	ratios  estimate.Ratios
}

func (c *counted) add(w Scored, n int, clustered bool) {
	c.unknown = c.unknown || n < 0
	c.total += n
	c.ratios.Add(w.Nats.Mean, float64(n), w.Cluster, clustered)
}

// per is the number and nats by it, nil where the number is not known, or 0.
func (c *counted) per(confidence float64) (total *int, _ *estimate.Estimate) {
	switch {
	case c.unknown:
		return nil, nil
	case c.total == 0:
		return new(c.total), nil
	}
	// No text has fewer than 0 nats, whatever few windows say.
	return new(c.total), new(c.ratios.Estimate(confidence).Within(0, math.Inf(1)))
}

// Add takes a window.
func (s *Summing) Add(w Scored) {
	s.windows++
	s.variance.Add(w.Nats.SE * w.Nats.SE)
	s.tokens.add(w, w.Tokens, s.Clustered)
	s.words.add(w, w.Words, s.Clustered)
	s.bytes.add(w, w.Bytes, s.Clustered)
}

// Corpus sums up the windows so far.
func (s *Summing) Corpus(confidence float64) Corpus {
	out := Corpus{Windows: s.windows, Tokens: s.tokens.total}
	perplexity := func(e *estimate.Estimate) *estimate.Estimate {
		if e == nil {
			return nil
		}
		return new(e.Map(math.Exp, math.Exp))
	}
	if _, e := s.tokens.per(confidence); e != nil {
		out.NatsPerToken = *e
	}
	out.BitsPerToken = out.NatsPerToken.Scale(1 / math.Ln2)
	out.PerplexityBound = *perplexity(&out.NatsPerToken)
	if s.windows > 0 {
		var perByte, perWord *estimate.Estimate
		if out.Bytes, perByte = s.bytes.per(confidence); perByte != nil {
			out.BitsPerByte, out.BytePerplexityBound = new(perByte.Scale(1/math.Ln2)), perplexity(perByte)
		}
		out.Words, perWord = s.words.per(confidence)
		out.WordPerplexityBound = perplexity(perWord)
	}
	if se := math.Sqrt(s.variance.Value()) / float64(out.Tokens); !math.IsInf(se, 0) && !math.IsNaN(se) {
		out.MonteCarloSE = &se
	}
	return out
}
