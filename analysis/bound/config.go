package bound

import (
	"fmt"

	"mdmgen/samplers/catalog"
)

// Config is what is worked out on a network.
type Config struct {
	// Cases are the samplers that are compared with first-hitting.
	Cases []Case
	// Draws is the number of samples of each of the two laws of [Chain].
	Draws int
	// Plans is K of the bounds of windows that are too long for exact values.
	Plans int
	// Seed determines all that is drawn.
	Seed uint64
	// Confidence is the probability of intervals; 0 is 0.95.
	Confidence float64
	// Reference bounds both sides of Theorem 4 from below on a text; nil for none.
	Reference *Reference
	// Done, where it is not nil, is called with the number of samples of [Chain] just finished.
	Done func(windows int)
}

// Case is a sampler with a number of steps.
type Case struct {
	// Name is the sampler's, N its number of steps; 0 for a sampler that has none.
	Name string
	N    int
	// Sampler is what they make.
	Sampler *catalog.Sampler
}

// String is "euler 64".
func (c Case) String() string {
	if c.N == 0 {
		return c.Name
	}
	return fmt.Sprintf("%s %d", c.Name, c.N)
}

// Bounded reports whether a collision bound compares the sampler with first-hitting.
func (c Case) Bounded() bool {
	law, ok := c.Sampler.Law()
	return ok && !law.Fixed
}

// The seeds of a report's draws, apart from each other.
const (
	seedOrders = 0x6f72646572730000
	seedFHS    = 0x6668730000000000
	seedPlans  = 0x706c616e73000000
)
