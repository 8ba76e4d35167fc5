package samplers

import (
	"slices"
)

// Descriptor tells what a sampler is.
type Descriptor struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Summary is one line.
	Summary string `json:"summary"`
	// Law says what is drawn, Cost how many network calls it takes, Source where it
	// is from.
	Law    string `json:"law"`
	Cost   string `json:"cost"`
	Source string `json:"source"`
	// Calls is Cost in a few words, for d free positions.
	Calls string `json:"calls"`
	// Flags are the options that the sampler can use, as a command line names them.
	// Which of them a given combination uses is told by [Options.Uses].
	Flags []string `json:"flags"`
	// make sets the sampler's law and settings.
	make func(s *Sampler, o Options, spec Spec) error
}

// The names of options, as a command line has them.
const (
	FlagSteps       = "steps"
	FlagGrid        = "grid"
	FlagKappa       = "kappa"
	FlagNoise       = "noise"
	FlagSizes       = "sizes"
	FlagOrder       = "order"
	FlagTau         = "tau"
	FlagT           = "T"
	FlagDelta       = "delta"
	FlagFinish      = "finish"
	FlagFloor       = "floor"
	FlagScores      = "scores"
	FlagDraw        = "draw"
	FlagLookahead   = "lookahead"
	FlagTemperature = "temperature"
	FlagTopK        = "top-k"
	FlagTopP        = "top-p"
)

// AllFlags lists the names of the options that belong to a sampler.
func AllFlags() []string {
	return []string{FlagSteps, FlagGrid, FlagKappa, FlagNoise, FlagSizes, FlagOrder, FlagTau, FlagT, FlagDelta, FlagFinish, FlagFloor, FlagScores, FlagDraw, FlagLookahead, FlagTemperature, FlagTopK, FlagTopP}
}

// rawSamplers are those that have a kernel of their own for raw scores.
var rawSamplers = []string{"euler", "tweedie", "tau-leaping"}

var (
	drawFlags = []string{FlagTemperature, FlagTopK, FlagTopP}
	// oneFlags are those of a sampler that reveals one position a call.
	oneFlags  = slices.Concat([]string{FlagLookahead}, drawFlags)
	gridFlags = []string{FlagSteps, FlagGrid, FlagKappa, FlagNoise, FlagT, FlagDelta, FlagFinish}
)

// Descriptors lists the samplers, the default first.
func Descriptors() []Descriptor { return slices.Clone(descriptors) }

// Describe finds a sampler by its name or an alias.
func Describe(name string) (Descriptor, bool) {
	for _, d := range descriptors {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return Descriptor{}, false
}
