package samplers_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"mdmgen/analysis/laws/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// scoreNet is a world as a score network: its rows have the mass
// c = 1 + ((s+3l) mod 7 − 3)/10, s being the index of the state and l the position.
type scoreNet struct {
	*world.World
	asked []int // states of canvases
}

func stateMass(state, position int) float64 { return 1 + float64((state+3*position)%7-3)/10 }

// Spec sets LogMass to compute the mass of a row from the row.
func (n *scoreNet) Spec() samplers.Spec {
	s := n.World.Spec()
	s.LogScores, s.LogMass = true, func(norm, _ float64) float64 { return norm }
	return s
}

func (n *scoreNet) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	out, err := n.World.Rows(ctx, c)
	length, columns, at := c.Length(), n.Facts().Columns, 0
	for r, k := range c.Counts {
		canvas := make([]int, length)
		for l := range canvas {
			canvas[l] = int(c.IDs[r*length+l])
		}
		state := n.State(canvas)
		n.asked = append(n.asked, state)
		for _, l := range c.Positions[at : at+k] {
			mass := math.Log(stateMass(state, int(l)))
			for a := range columns {
				out.Set(at*columns+a, out.At(at*columns+a)+mass)
			}
			at++
		}
	}
	return out, err
}

// TestFurtherLaws compares the samplers of the theory, on a time-free world and a time-conditioned one,
// with laws enumerated by another program: final states by chi-square, calls by their means. Most laws of planned samplers are only compared in their expected numbers; package laws compares samples with laws.
func TestFurtherLaws(t *testing.T) {
	for _, name := range []string{"markov4-sharp", "timed3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, laws := lawstest.MoreLaws(t, name)
			seen := make(map[string]int)
			for _, l := range laws {
				o, ok := l.Options()
				if !ok {
					continue
				}
				if seen[l.Sampler]++; seen[l.Sampler] > 2 && o.Scores == "" && o.Sampler != "entropy-bounded" {
					expected(t, w, &l, reftest.Must(catalog.New(o, w.Spec()))(t))
					continue
				}
				if l.Law != nil {
					o.Finish = "leave"
					further(t, w, &l, o, l.Law)
					o.Finish = "denoise"
				}
				for _, o := range byBoth(o) {
					if o.By == draw.ByInverse || l.Settings.Floor > 0 || l.Sampler == "eb" {
						further(t, w, &l, o, spread(w, l.LawDenoised))
					}
				}
			}
			if len(seen) < 11 {
				t.Errorf("laws of %v only", seen)
			}
		})
	}
}

// further compares samples with a law.
func further(t *testing.T, w *world.World, l *lawstest.More, o catalog.Options, law []float64) {
	t.Helper()
	const tests = 300 // of both files, for Bonferroni
	cond := w.Spec()
	cond.LogScores = o.Scores != ""
	s := reftest.Must(catalog.New(o, cond))(t, l.Sampler)
	var net samplers.Network = w
	if cond.LogScores {
		net = &scoreNet{World: w}
	}
	got := sampleFrom(t, net, w, allMask(w), config(w, s, 1), fewerDraws)
	label := fmt.Sprintf("%s %+v %s", l.Sampler, l.Settings, o.Finish)
	fits(t, got.states, law, familyLevel/tests, label)
	if l.Calls != nil && o.Finish != "leave" {
		got.all.check(t, *l.Calls, label, "calls")
		expected(t, w, l, s)
	}
}

// expected compares the expected number of calls of a planned sampler.
func expected(t *testing.T, w *world.World, l *lawstest.More, s *catalog.Sampler) {
	t.Helper()
	if !s.Planned() {
		return
	}
	got, finish, err := s.ExpectedCalls(w.Facts().Length)
	if err != nil || math.Abs(got+finish-*l.Calls) > 1e-12 {
		t.Errorf("%s %+v: expects %v calls and %v, %v, want %v in all", l.Sampler, l.Settings, got, finish, err, *l.Calls)
	}
}
