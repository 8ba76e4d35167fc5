package quality_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestResume goes on from part of a study, and gets the same samples.
func TestResume(t *testing.T) {
	w, e := openWorld(t, "xor3-mixed")
	ss := []*catalog.Sampler{
		newSampler(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 2}, w),
		newSampler(t, catalog.Options{Sampler: "ordered"}, w),
	}
	whole := measured(t, e, blank(3), ss, quality.Config{Samples: 40, Seed: 2})
	stop := errors.New("stop")
	var journal []byte
	_, err := quality.Measure(context.Background(), e, blank(3), ss, quality.Config{Samples: 40, Seed: 2, OnSample: func(s quality.Sample) error {
		b, err := json.Marshal(s)
		journal = append(append(journal, b...), '\n')
		if s.Index == 10 {
			return stop
		}
		return err
	}})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	var done []quality.Sample
	for dec := json.NewDecoder(strings.NewReader(string(journal))); dec.More(); {
		var s quality.Sample
		reftest.OK(t, dec.Decode(&s))
		done = append([]quality.Sample{s}, done...)
	}
	fresh := 0
	again, err := quality.Measure(context.Background(), e, blank(3), ss, quality.Config{Samples: 40, Seed: 2, Done: done, OnSample: func(quality.Sample) error {
		fresh++
		return nil
	}})
	reftest.OK(t, err)
	if fresh != 40-11 || !reflect.DeepEqual(again.Samples, whole.Samples) {
		t.Errorf("%d fresh samples, equal is %t", fresh, reflect.DeepEqual(again.Samples, whole.Samples))
	}
	if x := again.Distance(quality.KL, 1); x.Mean == 0 || math.IsInf(x.SE, 0) {
		t.Errorf("KL of a left-to-right chain: %v", x)
	}
	if _, ok := again.Bound(quality.KL, 1); ok {
		t.Error("an order has a collision bound")
	}
}

// TestMistakes checks what is refused.
func TestMistakes(t *testing.T) {
	w, e := openWorld(t, "xor3-mixed")
	tweedie := newSampler(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 2}, w)
	warm := newSampler(t, catalog.Options{Draw: draw.Settings{Temperature: theta(0.5)}}, w)
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
		"no position":  {likelihood.Target{IDs: []int{0, 0, 0}}, tweedie, quality.Config{Samples: 1}, "no free position"},
		"other study":  {blank(3), tweedie, quality.Config{Samples: 1, Done: []quality.Sample{{Tokens: []int{1}}}}, "another study"},
		"twice":        {blank(3), tweedie, quality.Config{Samples: 1, Done: []quality.Sample{{Tokens: make([]int, 3), NegLog: []estimate.Number{1}}, {Tokens: make([]int, 3), NegLog: []estimate.Number{1}}}}, "twice"},
	} {
		reftest.Fails(t, reftest.Err(quality.Measure(context.Background(), e, c.t, []*catalog.Sampler{c.s}, c.cfg)), c.want, name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := quality.Measure(ctx, e, blank(3), []*catalog.Sampler{tweedie}, quality.Config{Samples: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func indices(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}
