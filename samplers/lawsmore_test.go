package samplers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// furtherLaw is the exact law of a sampler on a world, by enumeration.
type furtherLaw struct {
	Sampler  string `json:"sampler"`
	Settings struct {
		Grid            string    `json:"grid"`
		ForwardTimes    []float64 `json:"forward_times"`
		MaskedFractions []float64 `json:"masked_fractions"`
		Sizes           []int     `json:"sizes"`
		Floor           float64   `json:"floor"`
		Gamma           float64   `json:"gamma"`
	} `json:"settings"`
	Law                []float64 `json:"law"`
	LawDenoised        []float64 `json:"law_denoised"`
	ExpectedCalls      *float64  `json:"expected_calls"`
	ExpectedCandidates *float64  `json:"expected_candidates"`
}

// list writes values such that an option reads back the same bits.
func list[T int | float64](prefix string, x []T) string {
	var items []string
	for _, v := range x {
		items = append(items, strconv.FormatFloat(float64(v), 'g', -1, 64))
	}
	return prefix + strings.Join(items, ",")
}

// options returns the options of the law's sampler, and false if there is no such sampler.
func (l *furtherLaw) options() (catalog.Options, bool) {
	o := catalog.Options{Sampler: l.Sampler, Grid: list("theta:", l.Settings.ForwardTimes)}
	switch l.Sampler {
	case "uniformization", "matu", "dmpm":
	case "truncated_tau_unnormalised":
		o.Sampler, o.Scores = "truncated-tau-leaping", plan.ScoresRaw
	case "tau_any_unnormalised":
		o.Sampler, o.Scores = "tau-leaping", plan.ScoresRaw
	case "euler_unnormalised":
		o.Sampler, o.Scores = "euler", plan.ScoresRaw
	case "trapezoid_plan":
		o = catalog.Options{Sampler: "trapezoidal", Grid: list("lambda:", l.Settings.MaskedFractions), Floor: &l.Settings.Floor}
	case "tweedie":
		o.Grid = list("lambda:", l.Settings.MaskedFractions)
	case "fhs_paired":
		o = catalog.Options{Sampler: "paired-fhs", Sizes: list("", l.Settings.Sizes), Floor: &l.Settings.Floor}
	case "eb":
		o = catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: &l.Settings.Gamma}}
	case "fhs_parallel":
		o = catalog.Options{Sampler: "parallel-fhs", Sizes: list("", l.Settings.Sizes)}
	default:
		return o, false
	}
	return o, true
}

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
// with laws enumerated by another program: final states by chi-square, calls and events by their means.
func TestFurtherLaws(t *testing.T) {
	const most = 300 // Tests of both files, for Bonferroni.
	for _, name := range []string{"markov4-sharp", "timed3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := reftest.Must(os.ReadFile(reftest.Shared(t, "reference", "laws-more", name+".json")))(t)
			var file struct {
				Laws []furtherLaw `json:"laws"`
			}
			reftest.OK(t, json.Unmarshal(data, &file))
			w := reftest.Must(world.Open(reftest.Shared(t, "reference", "laws", name+".json")))(t)
			seen := make(map[string]int)
			for i := range file.Laws {
				l := &file.Laws[i]
				o, ok := l.options()
				// Enough of the kinds that other tests also cover.
				if !ok || seen[l.Sampler] >= 6 && (l.Sampler == "tweedie" || l.Sampler == "fhs_parallel") {
					continue
				}
				seen[l.Sampler]++
				if l.Law != nil {
					o.Finish = "leave"
					l.check(t, w, o, l.Law, most)
					o.Finish = "denoise"
				}
				for _, o := range byBoth(o) {
					if o.By == draw.ByInverse || l.Settings.Floor > 0 || l.Sampler == "eb" {
						l.check(t, w, o, spread(w, l.LawDenoised), most)
					}
				}
			}
			if len(seen) < 11 {
				t.Errorf("laws of %v only", seen)
			}
		})
	}
}

func (l *furtherLaw) check(t *testing.T, w *world.World, o catalog.Options, law []float64, tests int) {
	t.Helper()
	const n = fewerDraws
	cond := w.Spec()
	cond.LogScores = o.Scores != ""
	s := reftest.Must(catalog.New(o, cond))(t, l.Sampler)
	var net samplers.Network = w
	if cond.LogScores {
		net = &scoreNet{World: w}
	}
	got := sampleFrom(t, net, w, allMask(w), config(w, s, 1), n)
	label := fmt.Sprintf("%s %+v %s", l.Sampler, l.Settings, o.Finish)
	fits(t, got.states, law, familyLevel/float64(tests), label)
	if l.ExpectedCandidates != nil {
		got.events.check(t, *l.ExpectedCandidates, label, "events")
		if got, _ := s.ExpectedEvents(w.Facts().Length); math.Abs(got-*l.ExpectedCandidates) > 1e-9 {
			t.Errorf("%s: expects %v events, want %v", label, got, *l.ExpectedCandidates)
		}
	}
	if l.ExpectedCalls != nil && o.Finish != "leave" {
		got.all.check(t, *l.ExpectedCalls, label, "calls")
		if !s.Planned() {
			return
		}
		got, finish, err := s.ExpectedCalls(w.Facts().Length)
		if err != nil || math.Abs(got+finish-*l.ExpectedCalls) > 1e-12 {
			t.Errorf("%s: expects %v calls and %v, %v, want %v in all", label, got, finish, err, *l.ExpectedCalls)
		}
	}
}
