package samplers

import (
	"iter"
	"math"

	"mdmgen/samplers/schedule"
)

// Law declares the properties of a sampler from which exact probabilities, bounds and costs are
// computed. Positions are revealed in uniform order unless Fixed is true.
type Law struct {
	// Planned reports whether the plan, which call reveals which position, is drawn before the
	// first network call. The fields from Steps to Clock apply to planned samplers, and Replay, Why
	// and Block to others.
	Planned bool
	// Steps is the grid with its probabilities; nil for a sampler without one, whose blocks have
	// Sizes. A trapezoidal grid includes the half steps.
	Steps *schedule.Steps
	// Sizes returns the sizes of the blocks of d positions; the caller must not change them. It is
	// nil if the sizes are random.
	Sizes func(d int) ([]int, error)
	// Mix ranges over the sizes of the blocks of d positions with their probabilities, if they are
	// random and independent of the order; nil for others.
	Mix func(d int) iter.Seq2[[]int, float64]
	// OneByOne reports whether each call reveals one position, so that each token is drawn given
	// all tokens before it.
	OneByOne bool
	// Fixed reports whether the order is not uniform: it is given, or there are few plans, over
	// which a likelihood sums.
	Fixed bool
	// LookBack reports whether tokens are drawn from the rows of two calls, with Floor as the κ of
	// [draw.Mix].
	LookBack bool
	Floor    float64
	// Clock selects the times passed to a time-conditioned network.
	Clock Clock
	// Replay is the way to compute the probability of a text without a plan, and Why the reason if
	// there is none. Block is the length of the blocks filled one after the other; 0 is one block.
	Replay Replay
	Why    string
	Block  int
	// Calls returns the exact expected number of network calls on d free positions, filled together to
	// the end, and of the calls that fill positions left over; nil if the number depends on the rows.
	Calls func(d int) (calls, finish float64, err error)
	// PaperUpper reports whether "Sharp Convergence Rates for Masked Diffusion Models" bounds TV to
	// first-hitting's law by a multiple of 1/N steps.
	PaperUpper bool
}

// Clock is the time that a sampler passes to a time-conditioned network.
type Clock int

// The clocks.
const (
	// AtHit is the random time at which the first position of the block is revealed.
	AtHit Clock = iota
	// AtStep is the beginning of the grid's step.
	AtStep
	// AtCount is a masked fraction determined by the number of masked positions.
	AtCount
)

// Replay is the way to compute the probability of a text by repeating a decoder's choices on it.
type Replay int

// The ways to replay.
const (
	// NoReplay means that there is no way.
	NoReplay Replay = iota
	// ReplayOne is for choices determined by the canvas and its rows: one path leads to a text,
	// with as many calls as the decoder makes.
	ReplayOne
	// ReplayRandom is for random choices: a text is queried on all subsets of its positions, or of
	// those of each block. Paths can be drawn for any length.
	ReplayRandom
	// ReplayMany is for choices that depend on the drawn tokens, on the same subsets.
	ReplayMany
)

// ReplayRows returns the greatest number of canvases that a replay queries on a text with d free
// positions.
func (l Law) ReplayRows(d int) float64 {
	if l.Replay == ReplayOne {
		return float64(d)
	}
	rows := 0.0
	for block := d; d > 0; d -= block {
		if l.Block > 0 {
			block = min(l.Block, d)
		}
		rows += math.Ldexp(1, block)
	}
	return rows
}

// FirstHitting reports whether the law is that of Algorithm 1 of the paper.
func (l Law) FirstHitting() bool {
	return l.Steps == nil && l.OneByOne && !l.Fixed && l.Clock == AtHit
}
