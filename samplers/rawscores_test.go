package samplers_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestRawScoresAskOnce checks that before the finishing call a time-free network is never queried
// twice about the same canvas. TestFurtherLaws checks the laws of raw scores.
func TestRawScoresAskOnce(t *testing.T) {
	T, delta := 3.0, 0.05
	for _, i := range []int{0, 1} {
		w := openWorld(t, i)
		for _, o := range []catalog.Options{
			{Sampler: "truncated-tau", Steps: 4}, {Sampler: "tau-leaping", Steps: 4, Finish: "leave"}, {Sampler: "euler", Steps: 12},
		} {
			o.T, o.Delta, o.Scores = (*catalog.Theta)(&T), (*catalog.Theta)(&delta), plan.ScoresRaw
			cond := w.Spec()
			cond.LogScores = true
			s := made(t, o, cond)
			net := &scoreNet{World: w}
			if _, err := samplers.Sample(context.Background(), net, repeat(allMask(w), 200), configOf(s, samplers.Config{Seed: 4}), func(r samplers.Result) error {
				if r.Calls+r.FinishCalls != len(net.asked) {
					t.Errorf("%v: %d+%d calls on %v", s, r.Calls, r.FinishCalls, net.asked)
				} else if distinct := slices.Compact(slices.Clone(net.asked[:r.Calls])); !w.Facts().TimeConditioned && len(distinct) != r.Calls {
					t.Errorf("%v: %d calls on %v", s, r.Calls, net.asked)
				}
				net.asked = nil
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRawScoresOfMassOne checks that they give the sampler itself, sample for sample, also in batches.
func TestRawScoresOfMassOne(t *testing.T) {
	for _, timed := range []bool{false, true} {
		for _, o := range []catalog.Options{
			{Sampler: "tweedie", Steps: 9}, {Sampler: "euler", Steps: 30, Finish: "leave"}, {Sampler: "tau-leaping", Grid: "paper", Steps: 5}, {Sampler: "tweedie", Steps: 3, Draw: draw.Settings{TopK: 2}},
		} {
			cond := samplers.Spec{TimeConditioned: timed, LogScores: true}
			plain := made(t, o, cond)
			o.Scores = plan.ScoresRaw
			raw := made(t, o, cond)
			net := newHashNet(timed)
			net.change = func(s *samplers.Spec) { s.LogMass = func(float64, float64) float64 { return 0 } }
			want, _ := collect(t, net, slices.Values(mixed()), net.config(plain, 1))
			for _, batch := range []int{1, 4, 64} {
				cfg := net.config(raw, batch)
				if got, totals := collect(t, net, slices.Values(mixed()), cfg); !sameIDs(got, want) || totals.Sequences != len(want) {
					t.Errorf("%v, timed %v, batch %d: ids differ from those of %v", raw, timed, batch, plain)
				}
			}
			if net.bad != "" {
				t.Errorf("%v: the network was handed %s", raw, net.bad)
			}
		}
	}
}

// TestRawScoresErrors checks that unsupported uses of raw scores are rejected by name.
func TestRawScoresErrors(t *testing.T) {
	raw := catalog.Options{Sampler: "euler", Scores: plan.ScoresRaw, Steps: 4}
	reftest.Fails(t, reftest.Err(catalog.New(raw, samplers.Spec{})), "normalised by construction", "a network without scores")
	s := made(t, raw, samplers.Spec{LogScores: true})
	if got := s.Settings(); got.Scores != "raw" {
		t.Errorf("settings %+v", got)
	}
	if _, ok := s.Steps(); ok {
		t.Error("raw scores have probabilities of their own")
	}
	reftest.Fails(t, s.Plan(new(plan.Plan), draw.NewStream(1, 1), upTo(3)), "no plan", "a plan of raw scores")
	if _, _, err := s.ExpectedCalls(3); err == nil {
		t.Error("raw scores have expected calls")
	}
	net := newHashNet(false)
	cfg := net.config(s, 1)
	sample := func() error {
		_, err := samplers.Sample(context.Background(), net, repeat([]int{6, 6}, 1), cfg, func(samplers.Result) error { return nil })
		return err
	}
	reftest.Fails(t, sample(), "LogMass", "no LogMass")
	for want, mass := range map[string]float64{"mass 20.0855": 3, "mass of the scores is +Inf": math.Inf(1), "mass of the scores is NaN": math.NaN()} {
		net.change = func(s *samplers.Spec) { s.LogMass = func(float64, float64) float64 { return mass } }
		if err := sample(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "sequence 0: position 0") {
			t.Errorf("log-mass %v: error %v", mass, err)
		}
	}
	bad := errors.New("broken")
	net.fail = func(int) error { return bad }
	if err := sample(); !errors.Is(err, bad) {
		t.Errorf("a network that fails: error %v", err)
	}
}
