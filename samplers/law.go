package samplers

import (
	"iter"
	"math"

	"mdmgen/samplers/schedule"
)

// Law declares what a sampler does, which is all that exact probabilities,
// bounds and costs need to know of it. Positions are revealed in uniform order unless Fixed
// says otherwise.
type Law struct {
	// Planned is whether which position is revealed by which call is drawn before the network is
	// asked. What is below up to Clock is of such samplers, Replay, Why and Block of others.
	Planned bool
	// Steps is the grid with its probabilities; nil for a sampler without one, whose
	// blocks have Sizes. A trapezoidal grid has the half steps.
	Steps *schedule.Steps
	// Sizes returns the sizes of the blocks of d positions, which must not be changed; nil
	// where they are random.
	Sizes func(d int) ([]int, error)
	// Mix ranges over the sizes of the blocks of d positions with their probabilities, where these are
	// random and do not depend on the order; nil for others.
	Mix func(d int) iter.Seq2[[]int, float64]
	// OneByOne is whether a call reveals one position, so that each token is drawn with all
	// before it in sight.
	OneByOne bool
	// Fixed is whether the order is not uniform: given, or of few plans, over which a likelihood
	// sums.
	Fixed bool
	// LookBack is whether tokens are drawn from the rows of two calls, with Floor as κ of
	// [draw.Mix].
	LookBack bool
	Floor    float64
	// Clock is at which times a time-conditioned network is asked.
	Clock Clock
	// Replay is how the probability of a text is worked out where there is no plan, Why why it
	// is not. Block is the length of the blocks that are filled one after the other, 0 for one.
	Replay Replay
	Why    string
	Block  int
	// Calls returns the exact expected number of network calls on d free positions, side by side up to the
	// end, and of those that fill what they leave; nil where the rows decide how many there are.
	Calls func(d int) (calls, finish float64, err error)
	// PaperUpper is whether "Sharp Convergence Rates for Masked Diffusion Models" bounds TV to
	// first-hitting's law by a multiple of 1/N steps.
	PaperUpper bool
}

// Clock is at which times a sampler asks a time-conditioned network.
type Clock int

// The clocks.
const (
	// AtHit is the time at which the first position of the block is revealed: random.
	AtHit Clock = iota
	// AtStep is the beginning of the step of the grid.
	AtStep
	// AtCount is a masked fraction that follows from the number of masked positions.
	AtCount
)

// Replay is how the probability of a text is worked out by making the choices of a decoder again on
// it.
type Replay int

// The ways to replay.
const (
	// NoReplay is none.
	NoReplay Replay = iota
	// ReplayOne is for choices that follow from the canvas and its rows: one path leads to a
	// text, with as many calls as the decoder makes.
	ReplayOne
	// ReplayRandom is for choices that are random: a text is met on all subsets of its positions,
	// or of those of each block. Paths are drawn at any length.
	ReplayRandom
	// ReplayMany is for choices that depend on what is drawn, on the same subsets.
	ReplayMany
)

// ReplayRows is the greatest number of canvases that a replay on a text with d free positions asks
// about.
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

// FirstHitting reports whether this is Algorithm 1 of the paper.
func (l Law) FirstHitting() bool {
	return l.Steps == nil && l.OneByOne && !l.Fixed && l.Clock == AtHit
}
