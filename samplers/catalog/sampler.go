package catalog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
)

// Sampler is a method with its settings and all that is known of its law. It does not change and
// may be shared by goroutines.
type Sampler struct {
	kernel   samplers.Kernel
	settings Settings
	given    []string // the options given to [New] that [Sampler.String] adds
}

// Of makes a sampler from a planner outside this module, with the given name. Tokens are drawn by
// inversion from the network's own distribution; positions that the plan leaves masked are filled.
func Of(name string, planner plan.Planner) *Sampler {
	set := Settings{Options: Options{Sampler: name, By: draw.ByInverse, PlanOptions: PlanOptions{Finish: "denoise"}}}
	return &Sampler{kernel: &plan.Method{Planner: planner, Denoise: true}, settings: set}
}

var _ samplers.Method = (*Sampler)(nil)

// Start begins a sequence: it draws the plan, if the sampler has one.
func (s *Sampler) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return samplers.Start(s.kernel, c, d)
}

// Check returns why a canvas cannot be filled, as far as this is known before the first network call.
func (s *Sampler) Check(spec samplers.Spec, canvas []int) error {
	categorical, err := draw.NewCategorical(spec.Vocabulary, s.settings.Draw)
	if err != nil {
		return err
	}
	_, err = s.Start(samplers.NewCanvas(&spec, categorical, canvas), draw.NewNumbers(0, 0))
	return fault.Join("samplers", err)
}

// Settings returns the options in effect.
func (s *Sampler) Settings() Settings { return s.settings }

// By returns the way in which uniforms select tokens.
func (s *Sampler) By() draw.By { return s.settings.By }

// TokenSettings returns the settings by which tokens are drawn from rows.
func (s *Sampler) TokenSettings() draw.Settings { return s.settings.Draw }

// Canvases returns the greatest number of canvases that a sequence queries in one call. It is above
// 1 with look-ahead, with guidance and for wino.
func (s *Sampler) Canvases() int {
	n := max(s.settings.Lookahead, 1)
	if s.settings.ThresholdBack > 0 { // one for each position of a block
		n = cmp.Or(s.settings.BlockLength, plan.MaxLookahead)
	}
	if s.settings.guided() {
		n *= 2
	}
	return n
}

// Head returns the head that this sampler requests of a network: [samplers.HeadBest] if the network
// draws tokens itself and nothing else needs rows. For a sampler without a plan, the calls that
// fill what its steps left still request rows.
func (s *Sampler) Head(net samplers.Network) samplers.Head {
	if _, ok := net.(samplers.Drawer); ok && s.By() != draw.ByGumbel && !s.settings.Truncates() && s.settings.SuppressTokens == "" {
		return s.kernel.Head(s.settings.Draw)
	}
	return samplers.HeadRows
}

// MostCalls returns the greatest number of calls that a canvas can take. It is one for each free
// position, except for samplers that mask again, edit or correct, and for those whose calls may
// reveal nothing.
func (s *Sampler) MostCalls(c samplers.Spec, canvas []int) int {
	free := c.Masked(canvas)
	if free == nil {
		return 0
	}
	return s.kernel.MostCalls(c, len(free), len(canvas))
}

// Plan returns the method that draws the sampler's plans; false if the sampler has none, or draws
// from rows that a layer changes.
func (s *Sampler) Plan() (*plan.Method, bool) {
	m, ok := s.kernel.(*plan.Method)
	return m, ok
}

// Law returns the sampler's law.
func (s *Sampler) Law() samplers.Law { return s.kernel.Law() }

// Planned reports whether reveals can be drawn before the network is called.
func (s *Sampler) Planned() bool { return samplers.Is[samplers.Planned](s.Law()) }

// Grid returns the law of a sampler with a grid, and false for others and in layers.
func (s *Sampler) Grid() (samplers.ByGrid, bool) {
	grid, ok := s.Law().(samplers.ByGrid)
	return grid, ok
}

// Left returns the probability with which a position is masked at the end, 0 if it is not known.
func (s *Sampler) Left() float64 {
	if grid, ok := s.Grid(); ok && !grid.Denoise {
		return grid.Left()
	}
	return 0
}

// Collision returns log p* of d free positions: see [samplers.Law].
func (s *Sampler) Collision(d int) (float64, error) {
	if d < 1 {
		return 0, fault.Errorf("samplers", "%d positions: must be at least 1", d)
	}
	out, err := s.Law().Collision(d)
	return out, s.named("%s: %w", err)
}

// ExpectedCalls returns the expected number of calls on d free positions: see [samplers.Counted].
func (s *Sampler) ExpectedCalls(d int) (calls, finish float64, err error) {
	if k, ok := s.kernel.(samplers.Counted); ok {
		return k.ExpectedCalls(d)
	}
	return math.NaN(), math.NaN(), nil
}

// Correction returns, for a sampler with corrections, the sampler without them, the number of positions
// that each correction draws anew, and the number of calls for corrections. ok is false for others.
func (s *Sampler) Correction() (inner *Sampler, positions, calls int, ok bool) {
	correction, ok := s.kernel.(layer.Correction)
	if !ok {
		return nil, 0, 0, false
	}
	inner = &Sampler{correction.Kernel, s.settings, s.given}
	inner.settings.Correct = ""
	return inner, correction.Positions, correction.Calls, true
}

// Outcomes computes the law of a sampler without a plan on a canvas: see [exact.Outcomes].
func (s *Sampler) Outcomes(ctx context.Context, net samplers.Network, canvas []int, limit int) ([]exact.Outcome, float64, error) {
	out, calls, err := exact.Outcomes(ctx, net, s.kernel, s.settings.Draw, canvas, limit)
	return out, calls, s.named("%s: %w", err)
}

// HasOutcomes returns nil if [Sampler.Outcomes] can compute the law, and otherwise the reason.
func (s *Sampler) HasOutcomes() error {
	return s.named("cannot compute the law of %s: %w", exact.Enumerates(s.kernel))
}

// named adds the sampler's name to an error.
func (s *Sampler) named(format string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Errorf("samplers", format, s, err)
}

// Replay computes the probabilities of texts under the sampler: see [rank.Replay].
func (s *Sampler) Replay(ctx context.Context, net samplers.Network, texts []rank.Text, batch int) ([]rank.Replayed, error) {
	out, err := rank.Replay(ctx, net, s.kernel, s.settings.Draw, texts, batch)
	return out, s.named("%s: %w", err)
}

// ReplayPaths draws paths to a text: see [rank.ReplayPaths].
func (s *Sampler) ReplayPaths(ctx context.Context, net samplers.Network, text rank.Text, paths int, u *draw.Stream, batch int) ([]float64, error) {
	out, err := rank.ReplayPaths(ctx, net, s.kernel, s.settings.Draw, text, paths, u, batch)
	return out, s.named("%s: %w", err)
}

// String returns the settings in one line: those that determine plans, and others if they were given.
func (s *Sampler) String() string {
	t := s.settings
	if d, _ := Describe(t.Sampler); d.Kind == samplers.ByOrder {
		t.By = "" // whose default is its own
	}
	out := []string{t.Sampler, t.Correlation, t.Tau, t.Grid, t.Sizes, t.Order, string(t.By)}
	if t.Steps > 0 {
		out = append(out, fmt.Sprintf("%d steps", t.Steps))
	}
	out = append(out, s.given...)
	return strings.Join(slices.DeleteFunc(out, func(x string) bool { return x == "" || x == string(draw.ByInverse) }), " ")
}
