package samplers

import (
	"errors"

	"mdmgen/samplers/draw"
)

// DefaultSteps is N where none is given: that of MDLM's sampler.
const DefaultSteps = 128

// A Kernel fills some of the masked positions of a canvas and leaves the others. Unlike a
// [Method] it can stand in a layer: blocks, corrections, growth, guidance or constraints. It does
// not change and may be shared.
type Kernel interface {
	// Fill begins to fill masked positions, ascending, as if there were no others.
	Fill(c *Canvas, d *draw.Numbers, free []int) (Decoder, error)
	// Law declares what it does.
	Law() Law
	// Head is what its decoders ask for where tokens are drawn so.
	Head(s draw.Settings) Head
	// MostCalls is the greatest number of calls on a canvas of length positions, d > 0 of
	// which are free.
	MostCalls(c Spec, d, length int) int
}

// Start begins to fill all masked positions of a canvas by a kernel.
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
	// Summary is one line.
	Summary string `json:"summary"`
	// Law is what is drawn, Cost how many network calls it takes, Source where it is from.
	Law    string `json:"law"`
	Cost   string `json:"cost"`
	Source string `json:"source"`
	// Calls is Cost in a few words, for d free positions: [Groups] where it is chosen.
	Calls Calls `json:"calls"`
	// Flags are the names of the options that the sampler can use. Which of them a given
	// combination uses depends on their values.
	Flags []string `json:"flags"`
	// Edits is whether it may mask again, or change, what it has revealed.
	Edits bool `json:"edits,omitempty"`
}

// Calls are the network calls of a sampler, in a few words.
type Calls string

// Groups are the calls of a sampler that cuts positions into N groups, a call each.
const Groups Calls = "number of groups"

// InGroups reports whether the option steps is the number of calls.
func (d Descriptor) InGroups() bool { return d.Calls == Groups }

// ValueOr is what p points to, other where p is nil.
func ValueOr[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}
