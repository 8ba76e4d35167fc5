package bound

import (
	"fmt"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Config configures the computations on a network.
type Config struct {
	// Cases are the samplers to compare with first-hitting.
	Cases []Case
	// Draws is the number of samples of each of the two laws of [Chain].
	Draws int
	// Plans is K of the bounds for windows that are too long for exact values.
	Plans int
	// Seed determines all draws.
	Seed uint64
	// Confidence is the level of intervals; 0 means 0.95.
	Confidence float64
	// Baseline bounds both sides of Theorem 4 from below on a text; nil means no such bounds.
	Baseline *Baseline
	// Done, if not nil, is called with the number of samples of [Chain] just finished.
	Done func(windows int)
}

// Case is a sampler with a number of steps.
type Case struct {
	// Name is the sampler's name, N its number of steps, 0 if it has none.
	Name string `json:"name"`
	N    int    `json:"n,omitempty"`
	// Sampler is the sampler with N steps.
	Sampler *catalog.Sampler `json:"-"`
}

// String returns the name and N, as in "euler 64".
func (c Case) String() string { return c.named("%s %d") }

// named returns the name and N in a form, and the name alone without N.
func (c Case) named(form string) string {
	if c.N == 0 {
		return c.Name
	}
	return fmt.Sprintf(form, c.Name, c.N)
}

// Bounded reports whether a collision bound compares the sampler with first-hitting.
func (c Case) Bounded() bool {
	return c.Sampler.Planned() && !samplers.Is[samplers.ByList](c.Sampler.Law())
}

// Seeds of a report's independent draws.
const (
	seedOrders = 0x6f72646572730000
	seedFHS    = 0x6668730000000000
	seedPlans  = 0x706c616e73000000
	seedScores = 0x73636f7265730000
)
