package rank_test

import (
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/schedule"
)

// foreseers are decoders that rank at temperature 0.
func foreseers() (out []catalog.Options) {
	in := catalog.LayerOptions{BlockLength: 3}
	for _, o := range []catalog.Options{
		{Sampler: "confidence"}, {Sampler: "confidence", Steps: 4}, {Sampler: "confidence", RankOptions: catalog.RankOptions{Score: rank.ByMargin}}, {Sampler: "confidence", Steps: 7, RankOptions: catalog.RankOptions{Score: rank.ByEntropy, Rule: schedule.RoundDream}},
		{Sampler: "confidence", Steps: 9, RankOptions: catalog.RankOptions{Rule: schedule.RoundDLLM, Transfer: "binomial"}}, {Sampler: "confidence", LayerOptions: in}, {Sampler: "confidence", RankOptions: catalog.RankOptions{Columns: "raw"}},
		{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.4}, LayerOptions: catalog.LayerOptions{BlockLength: 4, Stop: new(3)}}, {Sampler: "threshold", Steps: 3, RankOptions: catalog.RankOptions{Threshold: 0.5, Rule: schedule.RoundDream}}, {Sampler: "factor"},
		{Sampler: "localleap", RankOptions: catalog.RankOptions{Threshold: 0.5, RelaxedThreshold: 0.3, Radius: 2}}, {Sampler: "entropy-bounded"}, {Sampler: "llada2", Steps: 5, LayerOptions: in},
		{Sampler: "confidence", LayerOptions: catalog.LayerOptions{Guidance: 0.5, Stop: new(0), BadWordsIDs: "1 2,3 3,5", MinLength: 9}}, {Sampler: "confidence", Draw: draw.Settings{SuppressTokens: "1", TopK: 2}},
	} {
		o.Temperature = new(0.0)
		out = append(out, o)
	}
	return out
}

// TestForeseen checks that calls with look-ahead give the same ids, calls of the rule and positions
// left as one canvas per call, with any other jobs, both if no draft is likely to be right and if
// all are. They save calls if drafts are right.
func TestForeseen(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, timed := range []bool{false, true} {
		hash := lawstest.NewHashNet(timed)
		nets := []samplers.Network{hash.Near(0), hash.Near(1), hash}
		if timed {
			nets = nets[1:2] // one is enough: drafts are as often right with a time
		}
		for far, net := range nets {
			for _, o := range foreseers() {
				want, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), samplers.Config{Method: lawstest.NewFor(t, o, net.Spec()), Seed: 9, Batch: 8})
				for _, o.Lookahead = range []int{2, 16} {
					s := lawstest.NewFor(t, o, net.Spec())
					label := fmt.Sprintf("%v, network %d, timed %v, look-ahead %d", s, far, timed, o.Lookahead)
					got, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), samplers.Config{Method: s, Seed: 9, Batch: 5})
					lawstest.SameSamples(t, label, got, want)
					saved := 0
					for i, w := range want {
						if saved += w.Calls - got[i].Calls; got[i].RuleCalls != w.RuleCalls {
							t.Errorf("%s: sequence %d has %d calls of the rule, want %d", label, i, got[i].RuleCalls, w.RuleCalls)
						}
					}
					if far == 0 && !timed && o.Sampler == "confidence" && o.BadWordsIDs == "" && saved == 0 {
						t.Errorf("%s: no call is saved where every draft is right", label)
					}
				}
			}
		}
		if hash.Bad != "" {
			t.Errorf("the network was handed %s", hash.Bad)
		}
	}
}

// TestForeseenRounds counts calls and canvases on a network whose rows do not depend on tokens, so that
// every draft is right: the first call has no drafts, and each other call as many canvases as allowed.
func TestForeseenRounds(t *testing.T) {
	const d = 40
	net := lawstest.NewHashNet(false).Near(0)
	for _, k := range []int{1, 2, 4, 8, 16} {
		s := lawstest.New(t, catalog.Options{Sampler: "confidence", Steps: d, Lookahead: k, Draw: draw.Settings{Temperature: new(0.0)}})
		got, totals := lawstest.Collect(t, net, samplers.Copies(slices.Repeat([]int{6}, d), 0, 1), samplers.Config{Method: s, Seed: 2, Batch: 1})
		if r, want := got[0], 1+(d-1+k-1)/k; r.Calls != want || r.RuleCalls != d || r.Rows != d || totals.NetworkCalls != want {
			t.Errorf("look-ahead %d: %d calls of %d canvases, %d of the rule, %d of the network; want %d of %d", k, r.Calls, r.Rows, r.RuleCalls, totals.NetworkCalls, want, d)
		}
	}
}

// TestNotForeseen checks that options under which the canvas does not determine the choices are rejected.
func TestNotForeseen(t *testing.T) {
	cold := draw.Settings{Temperature: new(0.0)}
	for _, o := range []catalog.Options{
		{}, {Draw: cold, RankOptions: catalog.RankOptions{Score: rank.ByRandom}}, {Draw: cold, RankOptions: catalog.RankOptions{AlgTemp: 1}},
		{Sampler: "llada2", Draw: cold, RankOptions: catalog.RankOptions{EditingThreshold: 0.5}}, {Draw: cold, Cache: "dual", LayerOptions: catalog.LayerOptions{BlockLength: 4}},
	} {
		if o.Lookahead = 4; o.Sampler == "" {
			o.Sampler = "confidence"
		}
		reftest.Fails(t, reftest.Err(catalog.New(o, samplers.Spec{})), "lookahead", o)
	}
}
