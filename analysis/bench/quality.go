package bench

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
)

// The parts of quality, as --quality names them.
const (
	// PartError is the exact sampling error on a short canvas: distances from first-hitting.
	PartError = "error"
	// PartCertificate bounds distances from first-hitting at the cell's own length.
	PartCertificate = "certificate"
	// PartText describes tokens without a model: entropy, distinct n-grams, repetition.
	PartText = "text"
	// PartNELBO is the NELBO of samples under the model itself.
	PartNELBO = "nelbo"
	// PartAudit is the distance of rows from exact ones: with kept keys and values, from full rows;
	// in groups, from rows of one position a call.
	PartAudit = "audit"
	// PartCausal is the distance of a network's causal law from that of samples in blocks, both ways.
	PartCausal = "causal"
	// PartEvaluator is the perplexity under another model. It is requested by naming that model.
	PartEvaluator = "evaluator"
)

// Parts returns the parts that a list may name.
func Parts() []string {
	return []string{PartError, PartCertificate, PartText, PartNELBO, PartAudit, PartCausal}
}

// rounding is the distance up to which a value counts as 0.
const rounding = 1e-12

// KindQuality is the kind of a [Quality] among the records of a run.
const KindQuality = "quality"

// QualitySettings configures the measurements of samples and laws.
type QualitySettings struct {
	Parts []string `json:"parts"`
	// ErrorSamples is the number of first-hitting texts of PartError.
	ErrorSamples int `json:"error_samples,omitempty"`
	// CertificateRuns is the number of first-hitting runs of PartCertificate.
	CertificateRuns int `json:"certificate_runs,omitempty"`
	// Draws is the number of draws for the NELBO of a sample.
	Draws int `json:"draws,omitempty"`
	// AuditTexts is the number of texts of PartAudit.
	AuditTexts int `json:"audit_texts,omitempty"`
	// CausalTexts is the number of texts of each law of PartCausal.
	CausalTexts int `json:"causal_texts,omitempty"`
	// Protocol is the evaluator's protocol, nil without an evaluator.
	Protocol *quality.Protocol `json:"protocol,omitempty"`
}

// Quality holds one part of the measurements of a cell's samples or law.
type Quality struct {
	Kind string `json:"kind"`
	Cell string `json:"cell"`
	// Part is the name in --quality.
	Part    string   `json:"part"`
	Metrics []Metric `json:"metrics"`
}

// NewQuality returns a part of the measurements of a cell.
func NewQuality(c *Cell, part string, metrics []Metric) Quality {
	return Quality{KindQuality, c.ID, part, metrics}
}

// Metric is a number about the quality of samples.
type Metric struct {
	// Name is short and stable.
	Name  string            `json:"name"`
	Unit  string            `json:"unit"`
	Value estimate.Estimate `json:"value"`
	// Bound is "upper" or "lower" if the number is a bound on the named quantity.
	Bound string `json:"bound,omitempty"`
	// Detail excludes the metric from the table.
	Detail bool `json:"detail,omitempty"`
}

// metric returns a cell's metric, false if it has none.
func (c *CellReport) metric(name string) (estimate.Estimate, bool) {
	for _, q := range c.Quality {
		for _, m := range q.Metrics {
			if _, limit := m.Value.Limit(); m.Name == name && (limit || !math.IsNaN(m.Value.Mean)) {
				return m.Value, true
			}
		}
	}
	return estimate.Estimate{}, false
}

// lawKey identifies the law of a cell's samples. It ignores the batch, the threads, the look-ahead
// and how tokens are drawn.
func (c *Cell) lawKey() string {
	s := c.Setting
	s.Batch, s.Threads, s.Options.Lookahead, s.Options.By = 0, 0, 0, ""
	return s.ID()
}
