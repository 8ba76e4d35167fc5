package plan

import (
	"cmp"
	"math"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// The default ends of time for the paper's grid, and for the exp noise, which has none.
const (
	defaultT     = samplers.DefaultT
	defaultDelta = 0.01
)

// gridFlags lists the options that all of them have.
var gridFlags = []string{"steps", "grid", "kappa", "noise", "T", "delta", "finish"}

func newTauLeaping(o *Options, b samplers.Build) (*Method, error) {
	o.Tau = cmp.Or(o.Tau, "any")
	return onGrid(schedule.Rule("tau-"+o.Tau))(o, b)
}

// onGrid returns the constructor of a sampler with a grid.
func onGrid(rule schedule.Rule) func(o *Options, b samplers.Build) (*Method, error) {
	return func(o *Options, b samplers.Build) (*Method, error) { return newGrid(rule, o, b) }
}

func newGrid(rule schedule.Rule, o *Options, b samplers.Build) (*Method, error) {
	c := b.Spec
	o.Finish = cmp.Or(o.Finish, "denoise")
	noise, err := schedule.ParseNoise(cmp.Or(o.Noise, c.Noise))
	if err != nil {
		return nil, err
	}
	o.Grid = cmp.Or(o.Grid, DefaultGrid(rule))
	spec, err := schedule.ParseGrid(o.Grid)
	if err != nil {
		return nil, err
	}
	spec.Noise, spec.Steps, spec.Kappa = noise, *b.Steps, o.Kappa
	if spec.List == nil {
		if spec.Kappa == 0 {
			spec.Steps = cmp.Or(*b.Steps, samplers.DefaultSteps)
		}
		t, delta := ends(rule, spec.Kind, noise, c)
		spec.T, spec.Delta = float64(samplers.ValueOr(o.T, Theta(t))), float64(samplers.ValueOr(o.Delta, Theta(delta)))
	}
	grid, err := schedule.NewGrid(spec)
	if err != nil {
		return nil, err
	}
	if math.IsInf(grid.Theta[0], 1) && c.TimeConditioned && !c.InfiniteSigma {
		return nil, fault.Errorf("samplers", "T is infinite, but this time-conditioned network has no row there: give a finite T")
	}
	*b.Steps, o.Kappa, o.T, o.Delta = grid.Steps(), grid.Kappa, new(Theta(grid.Theta[0])), new(Theta(grid.Theta[grid.Steps()]))
	if o.Noise = ""; !rule.Exact() || grid.Kind == schedule.GridUniform {
		o.Noise = noise.String()
	}
	steps, err := schedule.NewSteps(rule, noise, grid)
	if err != nil {
		return nil, err
	}
	m := &Method{Denoise: o.Finish == "denoise", Lookahead: b.Lookahead}
	switch {
	case rule.AtHit(), rule == schedule.RuleDMPM:
		m.Planner = single{steps}
	default:
		m.Planner = gridPlan{steps}
	}
	return m, nil
}

// DefaultGrid returns uniform, or the paper's grid for uniformization and MATU.
func DefaultGrid(rule schedule.Rule) string {
	if rule.AtHit() {
		return string(schedule.GridPaper)
	}
	return string(schedule.GridUniform)
}

// ends returns the default T and δ.
func ends(rule schedule.Rule, kind schedule.GridKind, noise schedule.Noise, c samplers.Spec) (float64, float64) {
	delta, t := noise.Range()
	if noise == schedule.Exp || kind == schedule.GridPaper {
		t, delta = defaultT, max(defaultDelta, delta)
	}
	if (noise == schedule.Cosine || noise == schedule.Geometric) && !rule.Exact() {
		// Their rates are too large for a last step down to their own end: in the cosine's time the
		// rate is 2/t near 0, and a step from t to 0 counts 2 jumps.
		delta = defaultDelta
	}
	if rule.AtHit() {
		// Their bounds need both ends to be finite.
		return min(t, defaultT), max(delta, defaultDelta)
	}
	if rule.Exact() && kind != schedule.GridUniform && kind != schedule.GridPaper {
		delta = 0
		if !c.TimeConditioned || c.InfiniteSigma {
			t = math.Inf(1)
		}
	}
	return t, delta
}
