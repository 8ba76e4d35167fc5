package main

import (
	"slices"

	"mdmgen/analysis/bound"
	"mdmgen/samplers"
)

// world reports on a world. Samplers are those of the flags where one is given.
func (r *bounding) world(path string) error {
	c := r.c
	r.settings = boundSettings{}
	if slices.ContainsFunc(caseFlags(), c.IsSet) {
		if err := r.prepare(samplers.Spec{InfiniteSigma: true}); err != nil {
			return err
		}
	}
	return r.work(nil, nil, func() (bound.Report, error) { return bound.World(c.Context, path, r.cases) })
}
