package samplers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// grid makes euler, tweedie and tau-leaping.
func (s *Sampler) grid(o Options, c Conditions, name string) error {
	rule := Rule(name)
	if name == "tau-leaping" {
		s.settings.Tau = cmp.Or(o.Tau, "any")
		if s.settings.Tau != "any" && s.settings.Tau != "one" {
			return fmt.Errorf("samplers: tau %q: must be any or one", o.Tau)
		}
		rule = Rule("tau-" + s.settings.Tau)
	}
	s.settings.Finish = cmp.Or(o.Finish, "denoise")
	if s.settings.Finish != "denoise" && s.settings.Finish != "leave" {
		return fmt.Errorf("samplers: finish %q: must be denoise or leave", o.Finish)
	}
	s.denoise = s.settings.Finish == "denoise"
	noise, err := ParseNoise(cmp.Or(o.Noise, c.Noise))
	if err != nil {
		return err
	}
	spec, err := ParseGrid(o.Grid)
	if err != nil {
		return err
	}
	spec.Noise, spec.Steps, spec.Kappa = noise, o.Steps, o.Kappa
	if spec.List == nil {
		if spec.Kappa == 0 {
			spec.Steps = cmp.Or(o.Steps, DefaultSteps)
		}
		spec.T, spec.Delta = ends(rule, spec.Kind, noise, c)
		if o.T != nil {
			spec.T = *o.T
		}
		if o.Delta != nil {
			spec.Delta = *o.Delta
		}
	}
	grid, err := NewGrid(spec)
	if err != nil {
		return err
	}
	if math.IsInf(grid.Theta[0], 1) && c.TimeConditioned && !c.InfiniteSigma {
		return fmt.Errorf("samplers: T is infinite, where this time-conditioned network has no row: give a finite T")
	}
	steps, err := NewSteps(rule, noise, grid)
	if err != nil {
		return err
	}
	s.steps, s.law = &steps, gridPlan{steps}
	s.recordGrid(o, grid, noise, name)
	return nil
}

// ends are the default T and δ; see [Options].
func ends(rule Rule, kind GridKind, noise Noise, c Conditions) (float64, float64) {
	delta, t := noise.Range()
	if noise == Exp || kind == GridPaper {
		t, delta = defaultT, max(defaultDelta, delta)
	}
	if (noise == Cosine || noise == Geometric) && rule != RuleTweedie {
		// Their rates outgrow a last step down to their own end: in the cosine's time
		// the rate is 2/t near 0, and a step from t to 0 counts 2 jumps.
		delta = defaultDelta
	}
	if rule == RuleTweedie && kind != GridUniform && kind != GridPaper {
		delta = 0
		if !c.TimeConditioned || c.InfiniteSigma {
			t = math.Inf(1)
		}
	}
	return t, delta
}

// recordGrid keeps what is in force of a grid sampler.
func (s *Sampler) recordGrid(o Options, g Grid, noise Noise, name string) {
	first, last := Theta(g.Theta[0]), Theta(g.Theta[g.Steps()])
	s.settings.Grid = cmp.Or(o.Grid, string(GridUniform))
	s.settings.Steps, s.settings.Kappa = g.Steps(), g.Kappa
	s.settings.T, s.settings.Delta = &first, &last
	if name != "tweedie" || g.Kind == GridUniform {
		s.settings.Noise = noise.String()
	}
}

// Settings returns the options in force.
func (s *Sampler) Settings() Settings { return s.settings }

// Steps returns the grid and its probabilities, false for a sampler without a grid.
func (s *Sampler) Steps() (Steps, bool) {
	if s.steps == nil {
		return Steps{}, false
	}
	return *s.steps, true
}

// Denoises says whether positions that no step revealed are filled at the end.
func (s *Sampler) Denoises() bool { return s.denoise }

// ExpectedCalls returns the exact expected number of network calls of a sequence
// with d free positions, and that of finishing calls, which is a probability. It is
// an error when explicit sizes do not sum to d.
func (s *Sampler) ExpectedCalls(d int) (calls, finish float64, err error) {
	calls, finish, err = s.law.calls(d)
	if !s.denoise {
		finish = 0
	}
	if err != nil {
		return 0, 0, fmt.Errorf("samplers: %w", err)
	}
	return calls, finish, nil
}

// Plan draws a plan into p for the free positions, which must be ascending, and
// takes one uniform of the stream for each. It is an error when an explicit list
// of sizes or positions does not fit them.
func (s *Sampler) Plan(p *Plan, st *Stream, free []int) error {
	if err := p.draw(s.law, st, free); err != nil {
		return fmt.Errorf("samplers: %w", err)
	}
	return nil
}

// String returns the settings in one line.
func (s *Sampler) String() string {
	t := s.settings
	out := []string{t.Sampler, t.Tau, t.Grid, t.Sizes, t.Order}
	if t.Steps > 0 {
		out = append(out, fmt.Sprintf("%d steps", t.Steps))
	}
	return strings.Join(slices.DeleteFunc(out, func(x string) bool { return x == "" }), " ")
}
