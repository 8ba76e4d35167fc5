package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/bound"
	"mdmgen/samplers"
)

// boundCases reads the flags that choose samplers. One goes to those samplers that use it,
// and must go to one.
func boundCases(c *cli.Context, cond samplers.Spec) ([]bound.Case, error) {
	if k := c.Float64("kappa"); k > 1 {
		return nil, usagef("--kappa %v: must be above 0 and at most 1", k)
	}
	var axes []bench.Axis
	for _, flag := range caseFlags() {
		switch {
		case flag == "steps":
			steps, err := bench.Ints(c.String(flag), 1, 1<<20)
			if err != nil {
				return nil, usagef("--steps: %s", bare(err))
			}
			slices.Sort(steps)
			list := strings.ReplaceAll(strings.Trim(fmt.Sprint(steps), "[]"), " ", ",")
			axes = append(axes, bench.Axis{Key: flag, Values: list, Optional: !given(c, flag)})
		case flag != "sampler" && c.IsSet(flag):
			axes = append(axes, bench.Axis{Key: flag, Values: c.String(flag), Optional: !given(c, flag)})
		}
	}
	settings, err := bench.Cross(strings.Split(c.String("sampler"), ","), axes)
	if err != nil {
		return nil, usagef("bound: %s", bare(err))
	}
	var out []bound.Case
	for _, set := range settings {
		if err := useProfile(c, &set.Options); err != nil {
			return nil, err
		}
		s, err := samplers.New(set.Options, cond)
		if err != nil {
			return nil, usagef("bound: %s", bare(err))
		}
		name, n := set.Options.Sampler, set.Options.Steps
		if _, ok := s.Steps(); ok {
			n = s.Settings().Steps // also where κ or a list tells it; trapezoidal's has twice as many
		}
		if slices.ContainsFunc(out, func(b bound.Case) bool { return b.Name == name && b.N == n }) {
			return nil, usagef("--sampler: %s with %d steps stands there twice", name, n)
		}
		out = append(out, bound.Case{Name: name, N: n, Sampler: s})
	}
	return out, nil
}
