package bench

import "mdmgen/analysis/estimate"

// KindQuality is the kind of a [Quality] among the records of a run.
const KindQuality = "quality"

// QualitySettings say what was measured of samples and laws.
type QualitySettings struct {
	Parts []string `json:"parts"`
}

// Quality is a part of what was measured of a cell's samples or law.
type Quality struct {
	Kind string `json:"kind"`
	Cell string `json:"cell"`
	// Part is what --quality calls it.
	Part    string   `json:"part"`
	Metrics []Metric `json:"metrics"`
}

// Metric is a number that says how good samples are.
type Metric struct {
	// Name is short and stable; Unit says what it is counted in.
	Name  string            `json:"name"`
	Unit  string            `json:"unit"`
	Value estimate.Estimate `json:"value"`
	// Bound is "upper" or "lower" where the number is a bound on what is named.
	Bound string `json:"bound,omitempty"`
}

// Rate is a fitted exponent.
type Rate struct {
	Name string `json:"name"`
}
