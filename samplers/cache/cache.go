// Package cache makes calls compute few positions and reuse the keys and values of the others from
// earlier calls. It wraps any kernel, which needs no changes. The result is an approximation, which
// an audit measures ([samplers.Audit]), except for a block-causal network, whose finished blocks do
// not change.
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

// Kind selects the positions to compute.
type Kind string

// The kinds.
const (
	// Window computes positions near the requested ones and near those that changed.
	Window Kind = "window"
	// Dual computes the block of the requested positions, as in Fast-dLLM (arXiv 2505.22618).
	Dual Kind = "dual"
	// Prefix computes that block and everything after it, as there.
	Prefix Kind = "prefix"
	// Blocks computes the blocks of the requested positions and of those that changed. It is for a
	// block-causal network, or for one with causal rows, where Block is 1: rows then equal those of full
	// calls.
	Blocks Kind = "blocks"
)

// Settings select the positions that a call computes. The zero value selects all.
type Settings struct {
	Kind Kind
	// W, Refresh and Round configure a window: W positions on both sides, a full call after Refresh
	// reveals, or never for 0, and Round positions in rotation. If windows overlap, further positions
	// of the rotation fill the call up, so that all calls for one position have the same size.
	W, Refresh, Round int
	// Block is the length of the blocks. Those of Blocks begin at position 0, others after a prompt
	// of Prompt positions; −1 is the part before the first mask.
	Block, Prompt int
	// Causal is the length of the blocks of a block-causal network, 0 for others. Smaller blocks
	// within them are computed as in Fast-dLLM v2: the network's whole block if the first position
	// of the inner one is masked, otherwise only the inner one. Earlier blocks are computed as soon
	// as they have changed.
	Causal int
	// Ahead reports whether a row asks for its first position only, the others being guesses.
	Ahead bool
	// Audit is the probability that a call is compared with full rows. Planned reports whether the
	// order of reveals is independent of rows.
	Audit   float64
	Planned bool
}

// Cost is the greatest cost of a cache chosen for auto, in nats per token.
const Cost = 0.001

// Auto is the window where nobody chooses one.
var Auto = Settings{Kind: Window, W: 8, Refresh: 64}

// Option describes the option.
var Option = samplers.Option{Name: "cache", Words: []string{"none", "auto", "dual", "prefix", "window"}, Lists: true, Default: "none", Help: "keep keys and values by `HOW`: auto, window:W/R, dual, prefix", Flag: true}

// Parse parses window[:W[/REFRESH[/ROUND]]], where REFRESH may be inf, or dual, prefix, auto or none.
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

// String returns the settings in the syntax of Parse.
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

// cached is a kernel whose rows use keys and values of earlier canvases.
type cached struct {
	samplers.Kernel
	Settings
}

// Check returns an error if a network cannot keep keys and values.
func Check(net samplers.Network) error {
	if net, ok := net.(samplers.Keeper); !ok || net.KeptBytes(1) == 0 {
		return fault.Errorf("samplers", "cache: this model cannot cache keys and values: convert the checkpoint with this version of the program, or leave cache out")
	}
	return nil
}

// Around returns k with calls that compute few positions.
func Around(k samplers.Kernel, s Settings) samplers.Kernel { return cached{k, s} }

// Exact returns the kernel inside a cache of finished blocks, which changes no row, and other kernels as they are.
func Exact(k samplers.Kernel) samplers.Kernel {
	if c, ok := k.(cached); ok && c.Kind == Blocks {
		return c.Kernel
	}
	return k
}

func (k cached) Law() samplers.Law {
	if k.Kind == Blocks {
		return k.Kernel.Law()
	}
	return samplers.Unknown{Why: "rows use cached keys and values, which depend on the order of the calls: leave cache out"}
}

// ExpectedCalls returns those of the kernel.
func (k cached) ExpectedCalls(d int) (calls, finish float64, err error) {
	if inner, ok := k.Kernel.(samplers.Counted); ok {
		return inner.ExpectedCalls(d)
	}
	return math.NaN(), math.NaN(), nil
}

func (k cached) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	inner, err := k.Kernel.Fill(c, d, free)
	out := &decoder{Decoder: inner, settings: k.Settings, canvas: c, draws: d, spec: c.Spec()}
	if k.Audit > 0 {
		out.audit = &audit{Audit: samplers.Audit{Planned: k.Planned}}
	}
	if out.settings.Prompt < 0 {
		out.settings.Prompt = slices.IndexFunc(c.IDs(), func(id int64) bool { return int(id) == out.spec.Mask })
	}
	return out, err
}
