package generate

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
)

// job is a canvas with how it is sampled.
type job struct {
	canvas.Job
	method *catalog.Sampler
	// n samples are made of it; first is the index of the first.
	n, first int
}

// take fills in how each canvas is sampled: as the flags say, but for what its line does.
func (g *generation) take(jobs []canvas.Job) error {
	g.jobs = nil
	for _, j := range jobs {
		method, err := g.methodOf(j)
		if err != nil {
			return fmt.Errorf("%s:%d: %s", canvas.InputName(g.input), j.Line, fault.Plain(err))
		}
		own := job{j, method, cmp.Or(j.Own.N, g.n), g.next}
		if err := cmp.Or(g.checkAudit(own.method), g.tryStart(own)); err != nil {
			return err
		}
		if g.next+own.n > canvas.MaxSamples {
			return exit.Usagef("generate: more than %d samples", canvas.MaxSamples)
		}
		g.next += own.n
		g.jobs = append(g.jobs, own)
	}
	return nil
}

// methodOf is what a job is filled by: its line's own sampler, else the flags'.
func (g *generation) methodOf(j canvas.Job) (*catalog.Sampler, error) {
	own := j.Own.Patterns != nil || g.patterns != nil && j.Own.Options["suppress-tokens"] != ""
	if j.Own.Sampler == "" && len(j.Own.Options) == 0 && !own {
		return g.method, nil
	}
	opts, err := j.Own.With(g.base)
	if err == nil && own {
		opts, err = g.matched(j, opts)
	}
	if err != nil {
		return nil, err
	}
	return catalog.New(opts, g.network.Spec())
}

// at is the job of a sample.
func (g *generation) at(index int) *job {
	i, _ := slices.BinarySearchFunc(g.jobs, index, func(j job, index int) int {
		switch {
		case j.first+j.n <= index:
			return -1
		case j.first > index:
			return 1
		}
		return 0
	})
	return &g.jobs[i]
}

// lengthOf is the canvas's length, or 0 where lines of --input have their own.
func (g *generation) lengthOf() int {
	if g.input != "" {
		return g.Total
	}
	return len(g.jobs[0].Canvas)
}
