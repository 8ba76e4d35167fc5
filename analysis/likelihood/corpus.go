package likelihood

import (
	"bytes"
	"encoding/json"
	"math"

	"mdmgen/analysis/estimate"
)

// Scored holds the value of one window of a corpus and what to divide it by.
type Scored struct {
	// Nats is an estimate, or an exact value with N = 0.
	Nats estimate.Estimate
	// Tokens, Bytes and Words count the scored part; Bytes and Words are negative if unknown. Words
	// are separated by blanks and count where they begin.
	Tokens, Bytes, Words int
	// Cluster is the same number for windows that are not independent.
	Cluster int
}

// Corpus summarizes windows. Its intervals treat the windows as a sample of their text;
// MonteCarloSE is the part of the error that more draws would remove.
type Corpus struct {
	Windows int `json:"windows"`
	Tokens  int `json:"tokens"`
	// Bytes is null if the count of any window is unknown.
	Bytes *int `json:"bytes"`
	// Words is null if the count of any window is unknown.
	Words *int `json:"words"`
	// Ratios of sums over windows, not means of windows' ratios.
	NatsPerToken estimate.Estimate  `json:"nats_per_token"`
	BitsPerToken estimate.Estimate  `json:"bits_per_token"`
	BitsPerByte  *estimate.Estimate `json:"bits_per_byte"`
	// MonteCarloSE is the standard error of NatsPerToken for a fixed text, nil if a window has no
	// standard error.
	MonteCarloSE *float64 `json:"monte_carlo_se"`
	// PerplexityBound is exp(NatsPerToken). If NotBound is set, the windows' values are not bounds,
	// and JSON names this field perplexity.
	PerplexityBound estimate.Estimate `json:"perplexity_bound"`
	NotBound        bool              `json:"-"`
	// WordPerplexityBound and BytePerplexityBound are exp of the nats per word and per byte, nil if
	// the counts are unknown. JSON names them as it names PerplexityBound.
	WordPerplexityBound *estimate.Estimate `json:"word_perplexity_bound,omitempty"`
	BytePerplexityBound *estimate.Estimate `json:"byte_perplexity_bound,omitempty"`
}

// MarshalJSON names the perplexities bounds unless NotBound is set.
func (c Corpus) MarshalJSON() ([]byte, error) {
	type fields Corpus
	out, err := json.Marshal(fields(c))
	if c.NotBound {
		out = bytes.ReplaceAll(out, []byte(`perplexity_bound":`), []byte(`perplexity":`))
	}
	return out, err
}

// Summarize returns the summary of windows. If clustered is set, consecutive windows with the same
// Cluster are one unit.
func Summarize(windows []Scored, clustered bool, confidence float64) Corpus {
	s := Summing{Clustered: clustered}
	for _, w := range windows {
		s.Add(w)
	}
	return s.Corpus(confidence)
}

// Summing computes [Summarize] for windows that arrive one by one and are not kept. The zero value
// holds no windows.
type Summing struct {
	// Clustered makes consecutive windows with the same Cluster one unit.
	Clustered bool

	windows  int
	variance estimate.Sum
	tokens   counted
	// words and bytes are unused once a window's count is unknown.
	words, bytes counted
}

// counted sums nats and the number of units that they are divided by.
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

// per returns the number of units and the nats per unit: both nil if the number is unknown, no
// estimate if it is 0.
func (c *counted) per(confidence float64) (total *int, _ *estimate.Estimate) {
	switch {
	case c.unknown:
		return nil, nil
	case c.total == 0:
		return new(c.total), nil
	}
	// No text has fewer than 0 nats, whatever a few windows suggest.
	return new(c.total), new(c.ratios.Estimate(confidence).Within(0, math.Inf(1)))
}

// Add adds a window.
func (s *Summing) Add(w Scored) {
	s.windows++
	s.variance.Add(w.Nats.SE * w.Nats.SE)
	s.tokens.add(w, w.Tokens, s.Clustered)
	s.words.add(w, w.Words, s.Clustered)
	s.bytes.add(w, w.Bytes, s.Clustered)
}

// Corpus summarizes the windows added so far.
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
