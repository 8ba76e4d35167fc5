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
func (g *generation) take(jobs []canvas.Job, base catalog.Options) error {
	next := 0
	for _, j := range jobs {
		own := job{j, g.method, cmp.Or(j.Own.N, g.n), next}
		if j.Own.Sampler != "" || len(j.Own.Options) > 0 {
			opts, err := j.Own.With(base)
			if err == nil {
				own.method, err = catalog.New(opts, g.network.Spec())
			}
			if err != nil {
				return fmt.Errorf("%s:%d: %s", g.inputName(), j.Line, fault.Plain(err))
			}
		}
		if next += own.n; next > canvas.MaxSamples {
			return exit.Usagef("generate: more than %d samples", canvas.MaxSamples)
		}
		g.jobs = append(g.jobs, own)
	}
	return nil
}

// inputName is how messages call --input.
func (g *generation) inputName() string {
	if g.input == "-" {
		return "standard input"
	}
	return g.input
}

// total is the number of samples.
func (g *generation) total() int {
	last := g.jobs[len(g.jobs)-1]
	return last.first + last.n
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
