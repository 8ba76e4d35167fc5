package bound

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// readCases reads the flags that choose samplers. One goes to those samplers that use it,
// and must go to one.
func (r *bounding) readCases(cond samplers.Spec) ([]bound.Case, error) {
	var axes []bench.Axis
	for _, flag := range caseFlags() {
		switch {
		case flag == "steps":
			numbers, err := bench.Ints(r.steps, 1, 1<<20)
			if err != nil {
				return nil, exit.Usagef("--steps: %s", fault.Plain(err))
			}
			slices.Sort(numbers)
			list := strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
			axes = append(axes, bench.Axis{Key: flag, Values: list, Optional: !r.all.Given(flag)})
		case flag != "sampler" && r.all.IsSet(flag):
			axes = append(axes, bench.Axis{Key: flag, Values: r.all.Text(flag), Optional: !r.all.Given(flag)})
		}
	}
	names := bench.Compared(r.all.IsSet)
	if r.samplers != "" || r.all.IsSet("sampler") {
		names = strings.Split(r.samplers, ",")
	}
	settings, err := bench.Cross(names, axes)
	if err != nil {
		return nil, exit.Usagef("bound: %s", fault.Plain(err))
	}
	var out []bound.Case
	for _, set := range settings {
		if err := r.sampler.Profile.Use(r.ctx, r.all, &set.Options); err != nil {
			return nil, err
		}
		s, err := catalog.New(set.Options, cond)
		if err != nil {
			return nil, exit.Usagef("bound: %s", fault.Plain(err))
		}
		if s.Planned() && s.Settings().Draw.ChangesLaw() {
			return nil, exit.Usagef("--sampler %s: tokens of samplers with a plan are drawn from the network's own distribution here", set.Options.Sampler)
		}
		name := set.Options.Sampler
		if set.Options.Correct != "" {
			name += "." + set.Options.Correct
		}
		out = append(out, bound.Case{Name: name, N: steps(s, set.Options), Sampler: s})
	}
	if _, twice := doubled(out); twice {
		for i := range out { // by what they are set to
			settings[i].Options.Steps = 0
			out[i].Name = strings.ReplaceAll(settings[i].ID(), " ", ",")
		}
	}
	if c, twice := doubled(out); twice {
		return nil, exit.Usagef("--sampler: %s appears twice", c)
	}
	return out, nil
}

// doubled finds a case whose name another has.
func doubled(cases []bound.Case) (bound.Case, bool) {
	for i, a := range cases {
		if slices.ContainsFunc(cases[i+1:], func(b bound.Case) bool { return b.String() == a.String() }) {
			return a, true
		}
	}
	return bound.Case{}, false
}

// steps is how many a sampler has, 0 for one that has none: also where κ or a list tells it;
// trapezoidal's grid has twice as many.
func steps(s *catalog.Sampler, o catalog.Options) int {
	if _, ok := s.Steps(); ok {
		return s.Settings().Steps
	}
	return o.Steps
}

// fitting leaves out those of the samplers that nobody named whose exact values over d positions
// take more than is worked out, and refuses those that were named.
func (r *bounding) fitting(e *likelihood.Evaluator, d int) error {
	var kept []bound.Case
	var settings []catalog.Settings
	told := false
	for i, k := range r.cases {
		if err := e.Fits(d, k.Sampler); err != nil {
			if r.all.IsSet("sampler") {
				return exit.Usagef("bound: %s", fault.Plain(err))
			}
			if !told {
				r.streams.Notice(fmt.Sprintf("%s is left out: %s", k.Name, fault.Plain(err)))
			}
			told = true
			continue
		}
		kept, settings = append(kept, k), append(settings, r.settings.Samplers[i])
	}
	r.cases, r.settings.Samplers = kept, settings
	return nil
}

// calls are the expected network calls of each case over the windows' positions, by the case's
// name as lines have it: a number of steps is no cost.
func (r *bounding) calls() map[string]float64 {
	out := make(map[string]float64)
	for _, k := range r.cases {
		if law, err := bench.NewLaw(k.Sampler, r.free); err == nil && r.free > 0 {
			out[k.String()] = law.All()
		}
	}
	return out
}

// sameNote says which cases have the same distribution, "" where none have.
func (r *bounding) sameNote() string {
	var pairs []string
	for i, a := range r.cases {
		for _, b := range r.cases[i+1:] {
			if r.free > 0 && catalog.SameLaw(a.Sampler, b.Sampler, r.free, r.timed) {
				pairs = append(pairs, a.String()+" and "+b.String())
			}
		}
	}
	return bench.NoteSame(pairs)
}
