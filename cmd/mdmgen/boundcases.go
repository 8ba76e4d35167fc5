package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bound"
	"mdmgen/samplers"
)

// boundCases reads --sampler and --steps. A flag goes to those samplers that use it, and
// must go to one.
func boundCases(c *cli.Context, cond samplers.Conditions) ([]bound.Case, error) {
	for _, flag := range []string{"grid", "noise", "sizes", "order", "tau", "finish", "scores"} {
		if c.IsSet(flag) && c.String(flag) == "" {
			return nil, usagef("--%s: the value is empty", flag)
		}
	}
	if k := c.Float64("kappa"); c.IsSet("kappa") && !(k > 0 && k <= 1) {
		return nil, usagef("--kappa %v: must be above 0 and at most 1", k)
	}
	var steps []int
	for _, item := range strings.Split(c.String("steps"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 || n > 1<<20 {
			return nil, usagef("--steps: %.40q is not a whole number in 1..%d", item, 1<<20)
		}
		if slices.Contains(steps, n) {
			return nil, usagef("--steps: %d stands there twice", n)
		}
		steps = append(steps, n)
	}
	slices.Sort(steps)
	var out []bound.Case
	used := make(map[string]bool)
	for _, name := range strings.Split(c.String("sampler"), ",") {
		name = strings.TrimSpace(name)
		d, ok := samplers.Describe(name)
		if !ok {
			return nil, usagef("--sampler %.40q: must be of %s", name, strings.Join(boundSamplers(), ", "))
		}
		uses, err := samplers.Options{Sampler: d.Name, Grid: c.String("grid"), Kappa: c.Float64("kappa"), Sizes: c.String("sizes")}.Uses()
		if err != nil {
			return nil, usagef("bound: %s", bare(err))
		}
		has := func(flag string) bool {
			used[flag] = used[flag] || slices.Contains(uses, flag)
			return c.IsSet(flag) && slices.Contains(uses, flag)
		}
		o := samplers.Options{Sampler: d.Name}
		for flag, field := range map[string]*string{"grid": &o.Grid, "noise": &o.Noise, "sizes": &o.Sizes, "order": &o.Order, "tau": &o.Tau, "finish": &o.Finish} {
			if has(flag) {
				*field = c.String(flag)
			}
		}
		for flag, field := range map[string]**float64{"T": &o.T, "delta": &o.Delta, "floor": &o.Floor} {
			if has(flag) {
				x := c.Float64(flag)
				*field = &x
			}
		}
		if has("scores") {
			o.Scores = samplers.Scores(c.String("scores"))
		}
		if has("kappa") {
			o.Kappa = c.Float64("kappa")
		}
		list := []int{0}
		if slices.Contains(uses, "steps") {
			list, used["steps"] = steps, true
		}
		for _, n := range list {
			o.Steps = n
			s, err := samplers.New(o, cond)
			if err != nil {
				return nil, usagef("bound: %s", bare(err))
			}
			n = s.Settings().Steps // also where κ or a list tells it
			if slices.ContainsFunc(out, func(b bound.Case) bool { return b.Name == d.Name && b.N == n }) {
				return nil, usagef("--sampler: %s stands there twice", d.Name)
			}
			out = append(out, bound.Case{Name: d.Name, N: n, Sampler: s})
		}
	}
	for _, flag := range caseFlags {
		if flag != "sampler" && c.IsSet(flag) && !used[flag] {
			return nil, usagef("--%s: no sampler of %s uses it", flag, c.String("sampler"))
		}
	}
	return out, nil
}
