package bound

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/cli/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// readCases reads the flags that choose samplers. One goes to those samplers that use it,
// and must go to one.
func (r *bounding) readCases(cond samplers.Spec) ([]bound.Case, error) {
	var axes []bench.Axis
	for _, flag := range caseFlags() {
		switch {
		case flag == "steps":
			steps, err := bench.Ints(r.steps, 1, 1<<20)
			if err != nil {
				return nil, exit.Usagef("--steps: %s", fault.Plain(err))
			}
			slices.Sort(steps)
			list := strings.ReplaceAll(strings.Trim(fmt.Sprint(steps), "[]"), " ", ",")
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
		s, err := samplers.New(set.Options, cond)
		if err != nil {
			return nil, exit.Usagef("bound: %s", fault.Plain(err))
		}
		name, n := set.Options.Sampler, set.Options.Steps
		if set.Options.Correct != "" {
			name += "." + set.Options.Correct
		}
		if _, ok := s.Steps(); ok {
			n = s.Settings().Steps // also where κ or a list tells it; trapezoidal's has twice as many
		}
		if slices.ContainsFunc(out, func(b bound.Case) bool { return b.Name == name && b.N == n }) {
			return nil, exit.Usagef("--sampler: %s with %d steps appears twice", name, n)
		}
		out = append(out, bound.Case{Name: name, N: n, Sampler: s})
	}
	return out, nil
}

// fitting leaves out those of the samplers that nobody named whose exact values over d positions
// take more than is worked out.
func (r *bounding) fitting(e *likelihood.Evaluator, d int) {
	if r.all.IsSet("sampler") {
		return
	}
	var kept []bound.Case
	var settings []samplers.Settings
	told := false
	for i, k := range r.cases {
		if err := e.Fits(d, k.Sampler); err != nil {
			if !told {
				r.streams.Notice(fmt.Sprintf("%s is left out: %s", k.Name, fault.Plain(err)))
			}
			told = true
			continue
		}
		kept, settings = append(kept, k), append(settings, r.settings.Samplers[i])
	}
	r.cases, r.settings.Samplers = kept, settings
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
			if r.free > 0 && samplers.SameLaw(a.Sampler, b.Sampler, r.free, r.timed) {
				pairs = append(pairs, a.String()+" and "+b.String())
			}
		}
	}
	return bench.NoteSame(pairs)
}
