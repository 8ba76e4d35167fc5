package samplers

import "mdmgen/samplers/draw"

// Optional interfaces of a [Method].
type (
	// By is implemented by methods that do not draw with [draw.ByInverse].
	By interface{ By() draw.By }
	// OwnSettings is a method with settings of its own for jobs that have none.
	OwnSettings interface{ TokenSettings() draw.Settings }
	// Canvases is a method that asks about several canvases of a sequence in one call: at most
	// how many.
	Canvases interface{ Canvases() int }
)

// Reporter is a [Decoder] with something to report when it has finished, besides what the engine
// counts.
type Reporter interface {
	// Report adds to r the Events of a decoder that simulates them, the RuleCalls of one whose rule
	// makes calls that can commit nothing and are left out, the Audit of one that compares rows with
	// full ones, and the LogZ of one that estimates the sum Z of a target.
	Report(r *Result)
}

// Report has a decoder report, where it does.
func Report(d Decoder, r *Result) {
	if d, ok := d.(Reporter); ok {
		d.Report(r)
	}
}

// Forker is a [Decoder] that can be copied, as particles are: the copy goes on on another canvas, which holds what its
// own does, with other random numbers.
type Forker interface {
	Decoder
	Fork(c *Canvas, d *draw.Numbers) Decoder
}

// TooLarge reports whether a call of a [Network] failed for its size; [Sample] then stops.
type TooLarge interface{ TooLarge() bool }

// Audit is what a sequence's rows with kept keys and values are beside full ones, as tokens are drawn
// from them.
type Audit struct {
	// Calls and Tokens are those of the sequence, Rows the full ones that were asked beside.
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
	Rows   int `json:"rows"`
	// KL and TV are sums over the tokens of the distances to the full row, divided by the
	// probability with which a call was compared; MostKL is the greatest KL.
	KL     float64 `json:"kl"`
	TV     float64 `json:"tv"`
	MostKL float64 `json:"most_kl"`
	// LogRatio is Σ log p − log p̃ of the compared tokens, at least −10000, p̃ being kept.
	LogRatio float64 `json:"log_ratio"`
	// Planned is whether the order of the tokens does not depend on rows: means of KL and TV then
	// bound these distances of the laws of texts. Untruncated is whether KL is of rows at
	// temperature 1 and without truncation, as those that are drawn from may exclude tokens.
	Planned     bool `json:"planned"`
	Untruncated bool `json:"untruncated,omitempty"`
}
