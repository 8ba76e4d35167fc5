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

// What a [Decoder] may be besides. All are called when it has finished.
type (
	// Events is a decoder that simulates events, of which many need no network: how many
	// there were, reveals included.
	Events interface{ Events() int }
	// RuleCalls is a decoder whose rule makes calls that can commit nothing, which are left
	// out: how many the rule makes.
	RuleCalls interface{ RuleCalls() int }
	// Audited is a decoder that compares rows with full ones: what it found.
	Audited interface{ Audit() *Audit }
	// Weighed is a decoder that estimates the sum Z of a target, without bias: the logarithm of the
	// estimate.
	Weighed interface{ LogZ() float64 }
)

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

// EventsOf is the number of events of a decoder, 0 where it has none.
func EventsOf(d Decoder) int {
	if d, ok := d.(Events); ok {
		return d.Events()
	}
	return 0
}

// RuleCallsOf is the number of calls of a decoder's rule, 0 where it has none.
func RuleCallsOf(d Decoder) int {
	if d, ok := d.(RuleCalls); ok {
		return d.RuleCalls()
	}
	return 0
}

// LogZOf is the estimate of a decoder, nil where it has none.
func LogZOf(d Decoder) *float64 {
	if d, ok := d.(Weighed); ok {
		return new(d.LogZ())
	}
	return nil
}

// AuditOf is the audit of a decoder, nil where it has none.
func AuditOf(d Decoder) *Audit {
	if d, ok := d.(Audited); ok {
		return d.Audit()
	}
	return nil
}
