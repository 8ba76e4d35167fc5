package samplers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestUnlikeJobsBesideFaults runs jobs with and without look-ahead and truncation, of several
// temperatures and lengths, in an engine whose network draws and often fails. Some are cancelled,
// by their context or by leaving the loop. A job that finishes must have the same sample as alone.
func TestUnlikeJobsBesideFaults(t *testing.T) {
	const n = 80
	jobs, want := make([]samplers.Job, n), make([]*samplers.Result, n)
	r := rand.New(rand.NewPCG(3, 5))
	for i := range jobs {
		o := catalog.Options{Sampler: []string{"fhs", "ordered", "parallel-fhs", "tweedie", "dmpm"}[i%5], Draw: draw.Settings{Temperature: []*float64{nil, new(0.5), new(0.0)}[r.IntN(3)], TopK: 2 * r.IntN(2)}}
		switch o.Sampler {
		case "fhs", "ordered":
			o.Lookahead, o.By = 1+r.IntN(7), []draw.By{"", draw.ByInverse}[i/5%2]
		default:
			o.Steps = 4
		}
		net := &drawingNet{anyNet: newAnyNet(), t: t}
		s := lawstest.NewFor(t, o, net.Spec())
		jobs[i] = samplers.Job{Canvas: slices.Repeat([]int{6}, 8+r.IntN(3)), Method: s, Seed: 4, Index: uint64(i)}
		want[i] = reftest.Must(lawstest.Last(lawstest.Engine(t, net, 3), t.Context(), jobs[i]))(t)
	}
	net := &drawingNet{anyNet: newAnyNet(), t: t}
	calls := 0
	net.poor = func([]int64) error {
		if calls++; calls%97 == 0 {
			return errors.New("boom")
		}
		return nil
	}
	e := lawstest.Engine(t, net, 7)
	finished := make([]bool, n)
	var wait sync.WaitGroup
	for i, job := range jobs {
		wait.Go(func() {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if i == n-1 {
				stop() // At least one must not finish, however soon the others do.
			}
			steps := 0
			for s, err := range e.Sample(ctx, job) {
				if err != nil {
					if !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "boom") {
						t.Errorf("job %d: %v", i, err)
					}
					return
				}
				if steps++; i%7 == 3 && steps == 2 {
					stop()
				}
				if i%7 == 5 && steps == 2 {
					return
				}
				if s.Result != nil {
					finished[i] = true
					lawstest.SameSamples(t, fmt.Sprintf("job %d", i), map[uint64]samplers.Result{job.Index: *s.Result}, map[uint64]samplers.Result{job.Index: *want[i]})
				}
			}
		})
	}
	wait.Wait()
	if !slices.Contains(finished, true) || !slices.Contains(finished, false) {
		t.Error("all jobs finished, or none")
	}
	if net.drew == 0 {
		t.Error("the network drew nothing")
	}
}
