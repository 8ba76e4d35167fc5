package samplers

import "mdmgen/samplers/draw"

// Optional interfaces of a [Method].
type (
	// By is implemented by methods that do not draw with [draw.ByInverse].
	By interface{ By() draw.By }
	// OwnSettings is implemented by methods with their own settings for jobs without any.
	OwnSettings interface{ TokenSettings() draw.Settings }
	// Canvases is implemented by methods that ask about several canvases of a sequence in one call.
	// It returns the greatest number.
	Canvases interface{ Canvases() int }
)

// Counted is a [Kernel] whose network calls can be counted in advance.
type Counted interface {
	// ExpectedCalls returns the expected number of calls on d free positions that are filled
	// together to the end, and of calls that fill positions left over. Both are NaN if they depend
	// on the network's rows.
	ExpectedCalls(d int) (calls, finish float64, err error)
}

// Reporter is a [Decoder] that reports more than the engine counts when it has finished.
type Reporter interface {
	// Report adds the decoder's figures to r: RuleCalls if its rule makes calls that cannot commit
	// anything and are skipped, and Audit if it compares rows with full ones.
	Report(r *Result)
}

// Report calls d.Report if d is a [Reporter].
func Report(d Decoder, r *Result) {
	if d, ok := d.(Reporter); ok {
		d.Report(r)
	}
}

// TooLarge reports whether a [Network] call failed because of its size; [Sample] then stops.
type TooLarge interface{ TooLarge() bool }

// Audit compares a sequence's rows with kept keys and values to full rows, by the distributions
// that tokens are drawn from.
type Audit struct {
	// Calls and Tokens count those of the sequence, and Rows the full rows computed for comparison.
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
	Rows   int `json:"rows"`
	// KL and TV are sums over the tokens of the distances to the full row, divided by the
	// probability that a call is compared; MostKL is the greatest KL.
	KL     float64 `json:"kl"`
	TV     float64 `json:"tv"`
	MostKL float64 `json:"most_kl"`
	// LogRatio is Σ log p − log p̃ over the compared tokens, at least −10000; p̃ is of the kept row.
	LogRatio float64 `json:"log_ratio"`
	// Planned reports whether the order of the tokens is independent of rows: the means of KL and
	// TV then bound these distances between the laws of texts. Untruncated reports whether KL
	// compares rows without truncation, and at temperature 1 instead of 0, since it would be
	// infinite with excluded tokens.
	Planned     bool `json:"planned"`
	Untruncated bool `json:"untruncated,omitempty"`
}
