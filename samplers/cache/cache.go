// Package cache has calls compute few positions anew, beside keys and values of the others that were
// kept when these were computed last: a layer around any kernel, which does not know of it. That is
// an approximation, which an audit measures ([samplers.Audit]), but of a block-causal network, whose
// finished blocks stay what they are.
package cache

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Kind is which positions are computed anew.
type Kind string

// The kinds.
const (
	// Window computes those near to the positions that are wanted, and to those that changed.
	Window Kind = "window"
	// Dual computes the block of the wanted positions, Prefix the block and all behind it: after
	// Fast-dLLM (arXiv 2505.22618).
	Dual   Kind = "dual"
	Prefix Kind = "prefix"
	// Blocks computes the blocks of the wanted positions, and those before from the first that changed
	// on: for a block-causal network, whose rows are then those of full calls.
	Blocks Kind = "blocks"
)

// Settings say which positions a call computes anew. The zero value computes all.
type Settings struct {
	Kind Kind
	// Of a window: W positions on both sides, a full call after Refresh reveals, 0 for never,
	// and Round positions in turn. What overlapping windows of two positions leave is filled with
	// further positions in turn, so that calls for one position have one size.
	W, Refresh, Round int
	// Block is the length of the blocks of Blocks, from position 0 on, and of others, behind a prompt
	// of so many positions; −1 is what is before the first mask.
	Block, Prompt int
	// Causal is the length of the blocks of a block-causal network, 0 for others. Blocks within them
	// are then computed as Fast-dLLM v2 has it: the whole block of the network where the first position
	// of the one inside is masked, else that alone; and blocks before as soon as they have changed.
	Causal int
	// Ahead is whether a row asks about its first position, and guesses at the others.
	Ahead bool
	// Audit is the probability that a call is compared with full rows; Planned is whether the
	// order of reveals does not depend on rows.
	Audit   float64
	Planned bool
}

// Auto is the window where none is known to be best for a model.
var Auto = Settings{Kind: Window, W: 8, Refresh: 64}

// Option describes the option.
var Option = samplers.Option{Name: "cache", Words: []string{"none", "auto", "dual", "prefix", "window"}, Lists: true, Default: "none", Help: "keep keys and values, `HOW`: auto, window:W/R, dual, prefix", Flag: true}

// Parse reads window[:W[/REFRESH[/ROUND]]], REFRESH may be inf, dual, prefix, auto or none.
func Parse(text string) (s Settings, err error) {
	kind, numbers, given := strings.Cut(text, ":")
	switch {
	case text == "" || text == "none":
		return s, nil
	case text == "dual" || text == "prefix" || text == "blocks":
		return Settings{Kind: Kind(kind)}, nil
	case text != "auto" && kind != "window":
		return s, fault.Errorf("samplers", "cache %q: must be none, auto, dual, prefix or window[:W[/REFRESH[/ROUND]]]", text)
	}
	s = Auto
	if !given {
		return s, nil
	}
	for i, part := range strings.SplitN(numbers, "/", 3) {
		if i == 1 && part == "inf" {
			s.Refresh = 0
			continue
		}
		n, err := strconv.Atoi(part)
		if least := i % 2; err != nil || n < least || n > math.MaxInt32 {
			return s, fault.Errorf("samplers", "cache %q: %q: must be a whole number of at least %d", text, part, least)
		}
		*[]*int{&s.W, &s.Refresh, &s.Round}[i] = n
	}
	return s, nil
}

// String is what Parse reads.
func (s Settings) String() string {
	if s.Kind != Window {
		return string(s.Kind)
	}
	refresh := "inf"
	if s.Refresh > 0 {
		refresh = strconv.Itoa(s.Refresh)
	}
	out := fmt.Sprintf("window:%d/%s", s.W, refresh)
	if s.Round > 0 {
		out += fmt.Sprintf("/%d", s.Round)
	}
	return out
}

// cached is the law of a kernel whose rows have keys and values of earlier canvases beside them.
type cached struct {
	samplers.Kernel
	Settings
}

// Check returns why a network keeps no keys and values, nil where it does.
func Check(net samplers.Network) error {
	if net, ok := net.(samplers.Keeper); !ok || net.KeptBytes(1) == 0 {
		return fault.Errorf("samplers", "cache: this model keeps no keys and values, as only checkpoints do that this version of the program converts: convert it again, or leave cache out")
	}
	return nil
}

// Around is k with calls that compute few positions.
func Around(k samplers.Kernel, s Settings) samplers.Kernel { return cached{k, s} }

func (law cached) Law() samplers.Law {
	if law.Kind == Blocks {
		return law.Kernel.Law()
	}
	return samplers.Law{Calls: law.Kernel.Law().Calls, Why: "rows have kept keys and values beside them, which depend on the order of the calls: leave cache out"}
}

func (law cached) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	inner, err := law.Kernel.Fill(c, d, free)
	out := &decoder{Decoder: inner, law: law.Settings, canvas: c, draws: d, spec: c.Spec()}
	if law.Audit > 0 {
		out.audit = &audit{Audit: samplers.Audit{Planned: law.Planned}}
	}
	if out.law.Prompt < 0 {
		out.law.Prompt = slices.IndexFunc(c.IDs(), func(id int64) bool { return int(id) == out.spec.Mask })
	}
	return out, err
}
