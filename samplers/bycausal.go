package samplers

import (
	"errors"
	"math"
)

// ByCausal is the law of tokens drawn from left to right, each from a causal row: see [Spec].Causal.
type ByCausal struct {
	// Stop is the token after which the rest is filled with it; −1 for none.
	Stop int
}

// Fits returns nil: any length takes one row.
func (ByCausal) Fits(int, bool) error { return nil }

// NegLog returns −log P of a text, in nats, from its tokens, its free positions, ascending, and the
// log-probabilities of the tokens there in causal rows.
func (c ByCausal) NegLog(ids, free []int, logs []float64) (sum float64) {
	for i, l := range free {
		switch {
		case i == 0 || ids[free[i-1]] != c.Stop:
			sum -= logs[i]
		case ids[l] != c.Stop:
			return math.Inf(1)
		}
	}
	return sum
}

// Collision returns an error.
func (ByCausal) Collision(int) (float64, error) {
	return 0, errors.New("its rows are causal, so that its law is another than First-Hitting's")
}

// Likelihood names the call.
func (ByCausal) Likelihood() string { return "exact at any length, by one call" }
