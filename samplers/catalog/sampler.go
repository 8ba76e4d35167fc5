package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/schedule"
)

// Sampler is a method with the settings that it was made of, and with all that is known of its law.
// It does not change and may be shared by goroutines.
type Sampler struct {
	// Method has the plans ([plan.Method.Plan], [plan.Method.ExpectedCalls], …); it is nil, and they
	// are errors, where the sampler has none.
	*plan.Method
	kernel   samplers.Kernel
	settings Settings
}

// newSampler makes a sampler of a kernel.
func newSampler(k samplers.Kernel, set Settings) *Sampler {
	m, _ := k.(*plan.Method)
	return &Sampler{m, k, set}
}

// Of makes a sampler of a planner from outside, under a name of its own. Tokens are drawn by
// inversion from the network's own distribution; what the plan leaves masked is filled.
func Of(name string, planner plan.Planner) *Sampler {
	set := Settings{Options: Options{Sampler: name, By: draw.ByInverse, Finish: "denoise"}}
	return newSampler(&plan.Method{Planner: planner, Denoise: true}, set)
}

var _ samplers.Method = (*Sampler)(nil)

// Start begins a sequence: it draws the plan, if the sampler has one.
func (s *Sampler) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return samplers.Start(s.kernel, c, d)
}

// Check returns why a canvas cannot be filled, as far as that is known before the network is asked.
func (s *Sampler) Check(spec samplers.Spec, canvas []int) error {
	law, err := draw.NewCategorical(spec.Vocabulary, s.settings.Draw)
	if err != nil {
		return err
	}
	if _, err := s.Start(samplers.NewCanvas(&spec, law, canvas), draw.NewNumbers(0, 0)); err != nil {
		return fault.Errorf("samplers", "%w", err)
	}
	return nil
}

// Settings returns the options in force.
func (s *Sampler) Settings() Settings { return s.settings }

// By is what becomes of the uniforms of tokens.
func (s *Sampler) By() draw.By { return s.settings.By }

// TokenSettings are how tokens are drawn from rows.
func (s *Sampler) TokenSettings() draw.Settings { return s.settings.Draw }

// Canvases is the greatest number of canvases that a sequence asks in a call: more than one
// with look-ahead, with guidance and of wino.
func (s *Sampler) Canvases() int {
	n := max(s.settings.Lookahead, s.settings.Particles, 1)
	if s.settings.ThresholdBack > 0 { // one for each position of a block
		n = cmp.Or(s.settings.BlockLength, plan.MostLookahead)
	}
	if s.settings.guided() {
		n *= 2
	}
	return n
}

// Head is what a network is asked for where this sampler fills canvases: [samplers.HeadBest] where
// it draws itself and nothing else needs rows. A call that fills what the steps of a sampler
// without a plan left is asked for rows, too.
func (s *Sampler) Head(net samplers.Network) samplers.Head {
	if _, ok := net.(samplers.Drawer); ok && s.By() != draw.ByGumbel && !s.settings.Truncates() && s.settings.SuppressTokens == "" {
		return s.kernel.Head(s.settings.Draw)
	}
	return samplers.HeadRows
}

// MostCalls is the greatest number of calls that a canvas can take: one a free position, but
// for samplers that mask again, edit or correct, and for those whose calls may reveal nothing.
func (s *Sampler) MostCalls(c samplers.Spec, canvas []int) int {
	free := c.Masked(canvas)
	if free == nil {
		return 0
	}
	return s.kernel.MostCalls(c, len(free), len(canvas))
}

// Planned reports whether reveals can be drawn before the network is called: not with raw
// scores.
func (s *Sampler) Planned() bool { return s.kernel.Law().Planned }

// Law returns that of a sampler, false for one that has no plan ([Sampler.Planned]), whose law
// has nothing but how it is replayed.
func (s *Sampler) Law() (samplers.Law, bool) {
	law := s.kernel.Law()
	return law, law.Planned
}

// Steps returns the grid and its probabilities, false for a sampler without a grid and
// for one without a plan, whose probabilities depend on the network. Steps.Rule has which of its
// steps reveal one position a call, and that trapezoidal's are half steps.
func (s *Sampler) Steps() (schedule.Steps, bool) {
	if steps := s.kernel.Law().Steps; steps != nil {
		return *steps, true
	}
	return schedule.Steps{}, false
}

// Denoises reports whether positions that no step revealed are filled at the end.
func (s *Sampler) Denoises() bool {
	k, ok := s.kernel.(plan.Finishes)
	return ok && k.Denoises()
}

// Simulates reports whether the sampler simulates events, in blocks and with corrections, too,
// where their expected number is not known.
func (s *Sampler) Simulates() bool { return schedule.Rule(s.settings.Sampler).Simulates() }

// RawLaw returns that of a sampler with raw scores, false for others.
func (s *Sampler) RawLaw() (plan.RawLaw, bool) {
	law, ok := s.kernel.(plan.RawLaw)
	return law, ok
}

// Correction returns, of a sampler that is corrected, the one without corrections, and how many
// positions each of so many calls draws anew; ok is false for others.
func (s *Sampler) Correction() (inner *Sampler, positions, calls int, ok bool) {
	law, ok := s.kernel.(layer.Correction)
	if !ok {
		return nil, 0, 0, false
	}
	inner = newSampler(law.Kernel, s.settings)
	inner.settings.Correct = ""
	return inner, law.Positions, law.Calls, true
}

// Outcomes works out the law of a sampler without a plan on a canvas: see [exact.Outcomes].
func (s *Sampler) Outcomes(ctx context.Context, net samplers.Network, canvas []int, limit int) ([]exact.Outcome, float64, error) {
	out, calls, err := exact.Outcomes(ctx, net, s.kernel, s.settings.Draw, canvas, limit)
	return out, calls, s.named("%s: %w", err)
}

// HasOutcomes returns nil where [Sampler.Outcomes] works out a law, else why not.
func (s *Sampler) HasOutcomes() error {
	return s.named("no law of %s is worked out: %w", exact.Enumerates(s.kernel))
}

// named names the sampler in an error.
func (s *Sampler) named(format string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Errorf("samplers", format, s, err)
}

// Replay works out how probable the sampler makes texts: see [rank.Replay].
func (s *Sampler) Replay(ctx context.Context, net samplers.Network, texts []rank.Text, batch int) ([]rank.Replayed, error) {
	out, err := rank.Replay(ctx, net, s.kernel, s.settings.Draw, texts, batch)
	return out, s.named("%s: %w", err)
}

// ReplayPaths draws paths to a text: see [rank.ReplayPaths].
func (s *Sampler) ReplayPaths(ctx context.Context, net samplers.Network, text rank.Text, paths int, u *draw.Stream, batch int) ([]float64, error) {
	out, err := rank.ReplayPaths(ctx, net, s.kernel, s.settings.Draw, text, paths, u, batch)
	return out, s.named("%s: %w", err)
}

// String returns the settings in one line.
func (s *Sampler) String() string {
	t := s.settings
	out := []string{t.Sampler, t.Correlation, t.Tau, t.Grid, t.Sizes, t.Order, string(t.Scores), string(t.By)}
	if t.Steps > 0 {
		out = append(out, fmt.Sprintf("%d steps", t.Steps))
	}
	if t.BlockLength > 0 {
		out = append(out, fmt.Sprintf("block-length %d", t.BlockLength))
	}
	if t.Guidance != 0 {
		out = append(out, fmt.Sprintf("guidance %v", t.Guidance))
	}
	if t.Correct != "" {
		out = append(out, "correct "+t.Correct)
	}
	return strings.Join(slices.DeleteFunc(out, func(x string) bool {
		return x == "" || x == string(plan.ScoresNormalised) || x == string(draw.ByInverse)
	}), " ")
}
