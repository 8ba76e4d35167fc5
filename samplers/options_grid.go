package samplers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// grid makes the samplers that have a grid.
func (s *Sampler) grid(o Options, c Spec) error {
	rule := schedule.Rule(s.settings.Sampler)
	if s.settings.Sampler == "tau-leaping" {
		s.settings.Tau = cmp.Or(o.Tau, "any")
		rule = schedule.Rule("tau-" + s.settings.Tau)
	}
	if err := s.scores(o, c); err != nil {
		return err
	}
	s.settings.Finish = cmp.Or(o.Finish, "denoise")
	s.denoise = s.settings.Finish == "denoise"
	noise, err := schedule.ParseNoise(cmp.Or(o.Noise, c.Noise))
	if err != nil {
		return err
	}
	spec, err := schedule.ParseGrid(o.gridOf(rule))
	if err != nil {
		return err
	}
	spec.Profile, spec.Noise, spec.Steps, spec.Kappa = o.Profile, noise, o.Steps, o.Kappa
	if spec.List == nil {
		if spec.Kappa == 0 {
			spec.Steps = cmp.Or(o.Steps, DefaultSteps)
		}
		t, delta := ends(rule, spec.Kind, noise, c)
		spec.T, spec.Delta = or(o.T, t), or(o.Delta, delta)
	}
	grid, err := schedule.NewGrid(spec)
	if err != nil {
		return err
	}
	if math.IsInf(grid.Theta[0], 1) && c.TimeConditioned && !c.InfiniteSigma {
		return fault.Errorf("samplers", "T is infinite, where this time-conditioned network has no row: give a finite T")
	}
	s.recordGrid(o, grid, noise, rule)
	if rule == schedule.RuleTrapezoidal {
		grid = grid.Halves()
	}
	steps, err := schedule.NewSteps(rule, noise, grid)
	if err != nil {
		return err
	}
	return s.lawOf(o, c, steps)
}

// lawOf sets the law of a sampler with a grid.
func (s *Sampler) lawOf(o Options, c Spec, steps schedule.Steps) (err error) {
	switch rule := steps.Rule; rule {
	case schedule.RuleUniformization, schedule.RuleMATU:
		law := single{steps: steps}
		law.events, err = schedule.NewEvents(rule, steps.Grid)
		s.law = law
	case schedule.RuleDMPM:
		s.law = single{steps: steps}
	case schedule.RuleTrapezoidal:
		s.law = trapezoidal{steps, s.floor(o), c.TimeConditioned}
	default:
		switch {
		case s.settings.Scores == ScoresRaw:
			s.law = rawKernel{steps: steps}
		case s.settings.By == draw.ByFloat32Gumbel:
			s.law = gumbelKernel{steps: steps, bits: 24}
		default:
			s.law = gridPlan{steps}
		}
	}
	return err
}

// scores reads what is made of a score network's rows.
func (s *Sampler) scores(o Options, c Spec) error {
	switch {
	case o.Scores == ScoresRaw && !c.LogScores:
		return fault.Errorf("samplers", "scores raw: the rows of this network are normalised by construction, not scores: leave it out")
	case o.Scores == ScoresRaw:
		s.settings.Scores = ScoresRaw
	case c.LogScores && slices.Contains(rawSamplers, s.settings.Sampler):
		s.settings.Scores = ScoresNormalised
	}
	return nil
}

// gridOf is the grid that is given, or the default: uniform, but for uniformization
// and MATU, whose events a uniform one would make many, the paper's.
func (o Options) gridOf(rule schedule.Rule) string {
	if rule.Simulates() {
		return cmp.Or(o.Grid, string(schedule.GridPaper))
	}
	return cmp.Or(o.Grid, string(schedule.GridUniform))
}

// floor is the κ in force.
func (s *Sampler) floor(o Options) float64 {
	s.settings.Floor = new(or(o.Floor, DefaultFloor))
	return *s.settings.Floor
}

// ends are the default T and δ; see [Options].
func ends(rule schedule.Rule, kind schedule.GridKind, noise schedule.Noise, c Spec) (float64, float64) {
	delta, t := noise.Range()
	if noise == schedule.Exp || kind == schedule.GridPaper {
		t, delta = defaultT, max(defaultDelta, delta)
	}
	if (noise == schedule.Cosine || noise == schedule.Geometric) && !rule.Exact() {
		// Their rates outgrow a last step down to their own end: in the cosine's time
		// the rate is 2/t near 0, and a step from t to 0 counts 2 jumps.
		delta = defaultDelta
	}
	if rule.Simulates() {
		// Their bounds need both ends finite.
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

// recordGrid keeps what is in force of a grid sampler.
func (s *Sampler) recordGrid(o Options, g schedule.Grid, noise schedule.Noise, rule schedule.Rule) {
	first, last := Theta(g.Theta[0]), Theta(g.Theta[g.Steps()])
	s.settings.Grid = o.gridOf(rule)
	s.settings.Steps, s.settings.Kappa = g.Steps(), g.Kappa
	s.settings.T, s.settings.Delta = &first, &last
	if !rule.Exact() || g.Kind == schedule.GridUniform {
		s.settings.Noise = noise.String()
	}
}

// Settings returns the options in force.
func (s *Sampler) Settings() Settings { return s.settings }

// Steps returns the grid and its probabilities, false for a sampler without a grid and
// for one without a plan, whose probabilities depend on the network. Steps.Rule tells which of its
// steps reveal one position a call, and that trapezoidal's are half steps.
func (s *Sampler) Steps() (schedule.Steps, bool) {
	if steps := s.law.declare().Steps; steps != nil {
		return *steps, true
	}
	return schedule.Steps{}, false
}

// Denoises says whether positions that no step revealed are filled at the end.
func (s *Sampler) Denoises() bool { return s.denoise }

// ExpectedCalls returns the exact expected number of network calls of a sequence with d
// free positions, NaN with look-ahead, where it depends on the network's rows, and that of
// finishing calls, which is a probability. It is an error when explicit sizes do not sum to
// d, and where there is no plan.
func (s *Sampler) ExpectedCalls(d int) (calls, finish float64, err error) {
	calls, finish, err = s.law.calls(d)
	if !s.denoise {
		finish = 0
	}
	if err != nil {
		return 0, 0, fault.Errorf("samplers", "%w", err)
	}
	if s.Canvases() > 1 {
		calls = math.NaN()
	}
	return calls, finish, nil
}

// ExpectedEvents returns the exact expected number of events of a sequence with d free
// positions, reveals included, false for a sampler that simulates none. Events are not
// calls: those that reveal nothing need no network.
func (s *Sampler) ExpectedEvents(d int) (events float64, ok bool) {
	if law, ok := s.law.(single); ok && law.events != nil {
		return float64(d) * law.events.Each, true
	}
	return 0, false
}

// Simulates says that the sampler simulates events, in blocks and with corrections, too, where their
// expected number is not known.
func (s *Sampler) Simulates() bool { return schedule.Rule(s.settings.Sampler).Simulates() }

// Planned says whether reveals can be drawn before the network is called: not with raw
// scores, nor with float32-gumbel.
func (s *Sampler) Planned() bool {
	_, decides := s.law.(kernel)
	return !decides
}

// Plan draws a plan into p for the free positions, which must be ascending, and
// takes one uniform of u for each. It is an error when an explicit list
// of sizes or positions does not fit them, and for a sampler that has none ([Sampler.Planned]).
func (s *Sampler) Plan(p *Plan, u draw.Uniforms, free []int) error {
	if err := p.draw(s.law, u, free); err != nil {
		return fault.Errorf("samplers", "%w", err)
	}
	return nil
}

// String returns the settings in one line.
func (s *Sampler) String() string {
	t := s.settings
	out := []string{t.Sampler, t.Tau, t.Grid, t.Sizes, t.Order, string(t.Scores), string(t.By)}
	if t.Steps > 0 {
		out = append(out, fmt.Sprintf("%d steps", t.Steps))
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"block-length", float64(t.BlockLength)}, {"guidance", t.Guidance}, {"guidance-scale", t.GuidanceScale}} {
		if x.value != 0 {
			out = append(out, fmt.Sprintf("%s %v", x.name, x.value))
		}
	}
	if t.Correct != "" {
		out = append(out, "correct "+t.Correct)
	}
	return strings.Join(slices.DeleteFunc(out, func(x string) bool { return x == "" || x == string(ScoresNormalised) || x == string(draw.ByInverse) }), " ")
}
