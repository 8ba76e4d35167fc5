package quality_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestOrdered checks that a left-to-right chain has a distance but no collision bound, and that an
// error of OnSample ends a study.
func TestOrdered(t *testing.T) {
	w, _, e := openWorld(t, "xor3-mixed")
	ss := []*catalog.Sampler{
		newSampler(t, catalog.Options{Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, w),
		newSampler(t, catalog.Options{Sampler: "ordered"}, w),
	}
	st := measured(t, e, blank(3), ss, quality.Config{Samples: 40, Seed: 2})
	if x := st.Distance(quality.KL, 1); x.Mean == 0 || math.IsInf(x.SE, 0) {
		t.Errorf("KL of a left-to-right chain: %v", x)
	}
	if _, ok := st.Bound(quality.KL, 1); ok {
		t.Error("an order has a collision bound")
	}
	stop := errors.New("stop")
	if _, err := quality.Measure(context.Background(), e, blank(3), ss, quality.Config{Samples: 40, Seed: 2, OnSample: func(quality.Sample) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
}

// TestMistakes checks that invalid arguments are errors.
func TestMistakes(t *testing.T) {
	w, _, e := openWorld(t, "xor3-mixed")
	timed, _, ofTime := openWorld(t, "timed3")
	reftest.Fails(t, reftest.Err(quality.Measure(t.Context(), ofTime, blank(3), []*catalog.Sampler{newSampler(t, catalog.Options{Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, timed)}, quality.Config{Samples: 1})),
		"fhs: it queries this time-conditioned network at random times", "a network with time")
	tweedie := newSampler(t, catalog.Options{Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, w)
	warm := newSampler(t, catalog.Options{Draw: draw.Settings{Temperature: new(0.5)}}, w)
	for name, c := range map[string]struct {
		t    likelihood.Target
		s    *catalog.Sampler
		cfg  quality.Config
		want string
	}{
		"no samples":   {blank(3), tweedie, quality.Config{}, "0 samples"},
		"another draw": {blank(3), warm, quality.Config{Samples: 1}, "temperature"},
		"too long":     {blank(40), tweedie, quality.Config{Samples: 1}, "40 free positions"},
		"wrong canvas": {blank(2), tweedie, quality.Config{Samples: 1}, "exactly 3"},
		"no law":       {blank(3), newSampler(t, catalog.Options{Sampler: "remdm", Steps: 2}, w), quality.Config{Samples: 1}, "masks again"},
		"no position":  {likelihood.Target{IDs: []int{0, 0, 0}}, tweedie, quality.Config{Samples: 1}, "no free position"},
	} {
		reftest.Fails(t, reftest.Err(quality.Measure(context.Background(), e, c.t, []*catalog.Sampler{c.s}, c.cfg)), c.want, name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := quality.Measure(ctx, e, blank(3), []*catalog.Sampler{tweedie}, quality.Config{Samples: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestClean checks the probabilities that samplers leave no mask.
func TestClean(t *testing.T) {
	w, _, e := openWorld(t, "xor3-mixed")
	left := newSampler(t, catalog.Options{Sampler: "euler", Steps: 16, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, w)
	filled := newSampler(t, catalog.Options{Sampler: "euler", Steps: 16}, w)
	st := measured(t, e, blank(3), []*catalog.Sampler{left, filled}, quality.Config{Samples: 1})
	if want := math.Pow(1-left.Left(), 3); math.Abs(st.Clean[0]-want) > 1e-12 || want == 1 || st.Clean[1] != 1 || filled.Left() != 0 {
		t.Errorf("nothing is left with probability %v, want %v and 1", st.Clean, want)
	}
}
