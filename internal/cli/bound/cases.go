package bound

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/bound"
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
	settings, err := bench.Cross(strings.Split(r.samplers, ","), axes)
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
		if _, ok := s.Steps(); ok {
			n = s.Settings().Steps // also where κ or a list tells it; trapezoidal's has twice as many
		}
		if slices.ContainsFunc(out, func(b bound.Case) bool { return b.Name == name && b.N == n }) {
			return nil, exit.Usagef("--sampler: %s with %d steps stands there twice", name, n)
		}
		out = append(out, bound.Case{Name: name, N: n, Sampler: s})
	}
	return out, nil
}
