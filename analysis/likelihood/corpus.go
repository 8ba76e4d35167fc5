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
	// Tokens and Bytes count what was scored; Bytes is below 0 where it is not known.
	Tokens, Bytes int
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
	// Ratios of sums over windows, not means of windows' ratios.
	NatsPerToken estimate.Estimate  `json:"nats_per_token"`
	BitsPerToken estimate.Estimate  `json:"bits_per_token"`
	BitsPerByte  *estimate.Estimate `json:"bits_per_byte"`
	// PerplexityBound is exp(NatsPerToken). Where NotBound says that the windows' values are no bounds,
	// it is the perplexity, and has that name in JSON.
	PerplexityBound estimate.Estimate `json:"perplexity_bound"`
	NotBound        bool              `json:"-"`
	// MonteCarloSE is the standard error of NatsPerToken with the text held fixed, nil where a
	// window tells none.
	MonteCarloSE *float64 `json:"monte_carlo_se"`
}

// MarshalJSON calls the perplexity by what it is.
func (c Corpus) MarshalJSON() ([]byte, error) {
	type fields Corpus
	out := struct {
		fields
		PerplexityBound *estimate.Estimate `json:"perplexity_bound,omitempty"`
		Perplexity      *estimate.Estimate `json:"perplexity,omitempty"`
	}{fields: fields(c)}
	if c.NotBound {
		out.Perplexity = &c.PerplexityBound
	} else {
		out.PerplexityBound = &c.PerplexityBound
	}
	return json.Marshal(out)
}

// Summarize sums up windows; clustered says that those with the same Cluster are one
// unit.
func Summarize(windows []Scored, clustered bool, confidence float64) Corpus {
	out := Corpus{Windows: len(windows)}
	nats, tokens, bytes := make([]float64, len(windows)), make([]float64, len(windows)), make([]float64, len(windows))
	var clusters []int
	total, variance := 0, 0.0
	for i, w := range windows {
		nats[i], tokens[i], bytes[i] = w.Nats.Mean, float64(w.Tokens), float64(w.Bytes)
		out.Tokens += w.Tokens
		if w.Bytes < 0 || total < 0 {
			total = -1
		} else {
			total += w.Bytes
		}
		variance += w.Nats.SE * w.Nats.SE
		if clustered {
			clusters = append(clusters, w.Cluster)
		}
	}
	out.NatsPerToken = estimate.Ratio(nats, tokens, clusters, confidence)
	out.BitsPerToken = out.NatsPerToken.Scale(1 / math.Ln2)
	out.PerplexityBound = out.NatsPerToken.Map(math.Exp, math.Exp)
	if total >= 0 && len(windows) > 0 {
		out.Bytes = &total
		if total > 0 {
			b := estimate.Ratio(nats, bytes, clusters, confidence).Scale(1 / math.Ln2)
			out.BitsPerByte = &b
		}
	}
	if se := math.Sqrt(variance) / float64(out.Tokens); !math.IsInf(se, 0) && !math.IsNaN(se) {
		out.MonteCarloSE = &se
	}
	return out
}
