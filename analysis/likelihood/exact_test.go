package likelihood_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
)

// worlds returns the worlds that are here: those in testdata always, and the rest
// where the large reference files are.
func worlds(t *testing.T) map[string]*world.World {
	t.Helper()
	return worldsOf(t, reftest.Data(t, "reference", "laws"))
}

func worldsOf(t *testing.T, dir string) map[string]*world.World {
	t.Helper()
	out := make(map[string]*world.World)
	paths := reftest.Must(filepath.Glob(filepath.Join(dir, "*.json")))(t)
	for _, p := range paths {
		data := reftest.Must(os.ReadFile(p))(t)
		if !bytes.Contains(data[:min(len(data), 200)], []byte(world.Schema)) {
			continue // Another kind of reference file.
		}
		w := reftest.Must(world.Parse(data))(t)
		out[filepath.Base(p)] = w
	}
	return out
}

// sequence is the text of an index in base V, position 0 the most significant digit.
func sequence(index, d, v int) []int {
	ids := make([]int, d)
	for l := d - 1; l >= 0; l-- {
		ids[l] = index % v
		index /= v
	}
	return ids
}

func evaluator(t testing.TB, w *world.World) *likelihood.Evaluator {
	t.Helper()
	return reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
}

// near reports whether two values in nats agree to 1e-10, the exactness of the reference
// laws; infinities must be equal.
func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-10*max(1, math.Abs(want))
}

// stepsOf rebuilds a reference law's steps from its own numbers.
func stepsOf(l world.Law, g world.Grid) schedule.Steps {
	s := schedule.Steps{Jump: l.JumpProbabilities, Reveal: l.RevealProbabilities}
	for k := range g.ForwardTimes {
		s.Grid.Theta = append(s.Grid.Theta, float64(g.ForwardTimes[k]))
		s.Grid.Lambda = append(s.Grid.Lambda, g.MaskedFractions[k])
	}
	return s
}

// TestWorlds compares every exact value with the reference laws, for every text of
// every world.
func TestWorlds(t *testing.T) { checkWorlds(t, worlds(t)) }

// TestAllWorlds does the same with the large reference files.
func TestAllWorlds(t *testing.T) {
	checkWorlds(t, worldsOf(t, reftest.Shared(t, "reference", "laws")))
}

func checkWorlds(t *testing.T, worlds map[string]*world.World) {
	ctx := context.Background()
	if len(worlds) < 4 {
		t.Errorf("%d worlds", len(worlds))
	}
	for name, w := range worlds {
		laws := reftest.Must(w.Laws())(t)
		f := w.Facts()
		e := evaluator(t, w)
		var nelbo struct {
			BySequence []world.Number `json:"by_sequence"`
		}
		raw, _ := w.Extra("nelbo")
		reftest.OK(t, json.Unmarshal(raw, &nelbo))
		for i, p := range laws.FHS.Law {
			target := likelihood.Whole(sequence(i, f.Length, f.Columns))
			var bound, entropy float64
			if f.TimeConditioned {
				tab := reftest.Must(e.TimedTableWithin(ctx, target, math.Inf(1), true))(t)
				got := tab.FHS()
				if !near(got.Value, -math.Log(p)) || got.Error > 1e-4 {
					t.Errorf("%s: text %d: FHS %v, want %v", name, i, got, -math.Log(p))
				}
				bound, entropy = tab.NELBO().Value, tab.ScoreEntropy().Raw
			} else {
				tab := reftest.Must(e.Table(ctx, target, true))(t)
				if got := tab.FHS(); !near(got, -math.Log(p)) {
					t.Errorf("%s: text %d: FHS %v, want %v", name, i, got, -math.Log(p))
				}
				for _, l := range laws.Laws {
					g, _ := laws.Grid(l.Grid)
					got := tab.Grid(stepsOf(l, g))
					leave, denoise := -math.Log(l.Law[w.State(target.IDs)]), -math.Log(l.LawDenoised[i])
					if !near(got.Leave, leave) || !near(got.Denoise, denoise) {
						t.Errorf("%s: text %d: %s %s: %v, want %v, %v", name, i, l.Sampler, l.Grid, got, leave, denoise)
					}
				}
				bound, entropy = tab.NELBO(), tab.ScoreEntropy().Raw
			}
			want := float64(nelbo.BySequence[i])
			if !near(bound, want) {
				t.Errorf("%s: text %d: NELBO %v, want %v", name, i, bound, want)
			}
			if !math.IsInf(want, 1) && math.Abs(entropy-want) > 1e-9*max(1, want) {
				t.Errorf("%s: text %d: score entropy %v, want the NELBO %v", name, i, entropy, want)
			}
		}
	}
}
