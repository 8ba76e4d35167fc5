package samplers

import (
	"errors"
	"slices"

	"mdmgen/samplers/draw"
)

// DefaultSteps is the default of N, that of MDLM's sampler.
const DefaultSteps = 128

// A Kernel fills some of the masked positions of a canvas and leaves the others. Unlike a [Method]
// it can be used inside a layer: blocks, corrections, growth, guidance or constraints. It does not
// change and may be shared.
type Kernel interface {
	// Fill starts to fill the masked positions free, in ascending order, as if there were no others.
	Fill(c *Canvas, d *draw.Numbers, free []int) (Decoder, error)
	// Law returns the kernel's law.
	Law() Law
	// Head returns the head that its decoders ask for when tokens are drawn by s.
	Head(s draw.Settings) Head
	// MostCalls returns the greatest number of calls on a canvas of length positions, d > 0 of
	// which are free.
	MostCalls(c Spec, d, length int) int
}

// Start starts to fill all masked positions of a canvas with a kernel.
func Start(k Kernel, c *Canvas, d *draw.Numbers) (Decoder, error) {
	if c.spec.Shift && c.Len() > 0 && c.IsMasked(0) {
		return nil, errors.New("position 0 is free: this network predicts position l from row l−1, so give the first token")
	}
	return k.Fill(c, d, c.Masked(nil))
}

// Descriptor describes a sampler.
type Descriptor struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Summary is a description in one line.
	Summary string `json:"summary"`
	// Law describes the law of the samples, Cost the number of network calls, and Source the origin.
	Law    string `json:"law"`
	Cost   string `json:"cost"`
	Source string `json:"source"`
	// Calls is Cost in a few words, for d free positions; it is [Groups] if the number can be chosen.
	Calls Calls `json:"calls"`
	// Flags lists the names of the options that the sampler can use. The options used by a given
	// combination depend on their values.
	Flags []string `json:"flags"`
	// Edits reports whether the sampler may mask again, or change, revealed tokens.
	Edits bool `json:"edits,omitempty"`
	// Kind is what decides when positions are revealed.
	Kind Kind `json:"-"`
	// Common reports whether the sampler is one of the few to begin with.
	Common bool `json:"-"`
}

// Kind is what decides when a sampler reveals positions.
type Kind int

// The kinds.
const (
	// ByPlan draws all reveals before the first call.
	ByPlan Kind = iota
	// ByRank ranks positions by their rows.
	ByRank
	// ByRemasking masks again what it revealed.
	ByRemasking
	// ByOrder reveals from left to right, from causal rows.
	ByOrder
)

// Build is what a constructor of a sampler gets besides the options of its room.
type Build struct {
	// Steps is N, 0 for the default; the constructor sets it to the value in effect.
	Steps *int
	// Lookahead is the greatest number of canvases in a call; 0 is 1.
	Lookahead int
	Draw      draw.Settings
	Spec      Spec
}

// Calls describes the number of network calls of a sampler in a few words.
type Calls string

// Groups is the Calls of a sampler that cuts positions into N groups, one call each.
const Groups Calls = "number of groups"

// TakesCalls reports whether a number of calls can be chosen, as steps or by solving for them.
func (d Descriptor) TakesCalls() bool { return d.InGroups() || slices.Contains(d.Flags, "steps") }

// InGroups reports whether the option steps is the number of calls.
func (d Descriptor) InGroups() bool { return d.Calls == Groups }

// ValueOr returns *p, or other if p is nil.
func ValueOr[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}
