package bench

import "mdmgen/analysis/estimate"

// Expected holds the expected network calls of a sequence, known before any is made.
type Expected struct {
	// Calls is the exact expected number of non-empty blocks. Finish is the expected number of
	// calls that fill the rest, a probability. Both are NaN if they depend on the network's rows.
	Calls  estimate.Number `json:"calls"`
	Finish estimate.Number `json:"finish"`
}

// All returns the expected number of calls, including finishing ones.
func (e Expected) All() float64 { return float64(e.Calls + e.Finish) }
