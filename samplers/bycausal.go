package samplers

import (
	"errors"
	"math"
)

// ByCausal is the law of tokens drawn from left to right, each from a causal row: see [Spec].Causal.
type ByCausal struct {
	// Stop is the token after which the rest is filled with it; nil for none.
	Stop *int
}

// Fits returns nil: any length takes one row.
func (ByCausal) Fits(int, bool) error { return nil }

// Rows returns 1.
func (ByCausal) Rows(int, bool) float64 { return 1 }

// NegLog returns −log P of a text, in nats, from the tokens at its free positions, ascending, and their
// log-probabilities in causal rows.
func (c ByCausal) NegLog(tokens []int, logs []float64) (sum float64) {
	stopped := false
	for i, token := range tokens {
		switch {
		case !stopped:
			sum -= logs[i]
		case token != *c.Stop:
			return math.Inf(1)
		}
		stopped = stopped || c.Stop != nil && token == *c.Stop
	}
	return sum
}

// Collision returns an error.
func (ByCausal) Collision(int) (float64, error) {
	return 0, errors.New("its rows are causal, so that its law is another than First-Hitting's")
}

// Likelihood names the call.
func (ByCausal) Likelihood() string { return "exact at any length, by one call" }
