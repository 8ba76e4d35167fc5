package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bound"
	"mdmgen/samplers"
)

// world reports on a world, or on a file of tables. Samplers are those of the flags
// where one is given.
func (r *bounding) world(path string) error {
	c := r.c
	r.settings = boundSettings{}
	given := slices.ContainsFunc(caseFlags, func(flag string) bool { return c.IsSet(flag) })
	if given {
		switch bound.KindOf(path) {
		case bound.KindTable:
			return usagef("bound: %s is a table: it says itself which samplers it is about, and takes no flag of a sampler", path)
		case bound.KindMask:
			if err := setDefaults(c, map[string]string{"sampler": "euler", "finish": "leave"}); err != nil {
				return err
			}
		}
		if err := r.prepare(samplers.Spec{InfiniteSigma: true}); err != nil {
			return err
		}
	}
	return r.work(nil, nil, func() (bound.Report, error) { return bound.World(c.Context, path, r.cases) })
}

// setDefaults sets flags that are not given.
func setDefaults(c *cli.Context, values map[string]string) error {
	for flag, value := range values {
		if c.IsSet(flag) {
			continue
		}
		if err := c.Set(flag, value); err != nil {
			return err
		}
	}
	return nil
}
