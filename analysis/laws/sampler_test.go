package laws_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/schedule"
)

// TestSamplerLaw draws samples of every sampler on worlds and compares them with the exact law, by chi-square
// over all states. Laws are checked against their definitions and reference files in other tests.
func TestSamplerLaw(t *testing.T) {
	t.Parallel()
	planned := func(d int) []catalog.Options {
		return []catalog.Options{
			{}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: fmt.Sprintf("1,%d", d-1)}}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: fmt.Sprintf("%d,1", d-1)}}, {Sampler: "parallel-fhs", Steps: 1},
			{Sampler: "random-sizes", Steps: 2}, {Sampler: "random-sizes", Steps: 2, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, {Sampler: "random-sizes", Steps: 3},
			{Sampler: "ordered"}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "2,0,1,3"[:2*d-1]}},
			{Sampler: "dus"},
			{Sampler: "spread", Steps: 2}, {Sampler: "spread", Steps: 3},
			{Sampler: "euler", Steps: 4}, {Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "cosine"}}, {Sampler: "ancestral", Steps: 1, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "tau-leaping", Steps: 3, PlanOptions: catalog.PlanOptions{Tau: "one", Finish: "leave"}},
			{Sampler: "uniformization", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave", Delta: new(catalog.Theta(0.3))}}, {Sampler: "matu", Steps: 2, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(1)), Delta: new(catalog.Theta(0.1))}},
			{Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, {Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Noise: "cosine", Grid: "uniform"}},
		}
	}
	unplanned := []catalog.Options{
		{Sampler: "confidence", Steps: 2}, {Sampler: "confidence", Steps: 2, Draw: draw.Settings{Temperature: new(0.5)}}, {Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: rank.ByRandom}},
		{Sampler: "confidence", Steps: 3, RankOptions: catalog.RankOptions{Rule: schedule.RoundDream, Score: rank.ByMargin, AlgTemp: 0.3}},
		{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.6}, LayerOptions: catalog.LayerOptions{BlockLength: 2}}, {Sampler: "threshold", Steps: 2, RankOptions: catalog.RankOptions{Threshold: 0.6, Rule: schedule.RoundDream}},
		{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: new(0.5)}}, {Sampler: "llada2", RankOptions: catalog.RankOptions{Threshold: 0.6}},
		{Sampler: "remdm", Steps: 4, RemaskOptions: catalog.RemaskOptions{Eta: 0.4}}, {Sampler: "remdm", Steps: 3, RemaskOptions: catalog.RemaskOptions{Remask: remask.RemaskConf}}, {Sampler: "p2", Steps: 2},
		{Sampler: "confidence", Steps: 2, LayerOptions: catalog.LayerOptions{MinLength: 2, Stop: new(int)}},
	}
	for _, name := range []string{"timed3", "xor3-mixed", "markov4-sharp"} {
		file, w := lawstest.Open(t, name)
		options := planned(w.D)
		if w.D == 3 {
			options = append(options, unplanned...)
		}
		refused := 0
		for _, o := range options {
			s := reftest.Must(catalog.New(o, file.Spec()))(t)
			if sampler := s.Settings().Sampler; w.Timed() && slices.Contains([]string{"parallel-fhs", "uniformization", "matu"}, sampler) {
				reftest.Fails(t, reftest.Err(w.SamplerLaw(s)), s.String()+": it queries this time-conditioned network at random times", name)
				refused++
				continue
			}
			law := reftest.Must(w.SamplerLaw(s))(t)
			counts := drawn(t, file, w, s, 5_000)
			if grid, ok := s.Grid(); ok && grid.OneByOne { // All states with masks count as one.
				for x := range counts {
					if x != w.AllMask() && lawstest.Masks(w.Space, x) > 0 {
						counts[w.AllMask()], counts[x] = counts[w.AllMask()]+counts[x], 0
					}
				}
			}
			if p := reftest.Goodness(counts, law); p < 1e-4 || math.Abs(floats.SumCompensated(law)-1) > 1e-11 {
				t.Errorf("%s: %s: p = %.3g, sums to %v", name, s, p, floats.SumCompensated(law))
			}
		}
		if w.Timed() != (refused == 5) {
			t.Errorf("%s: %d samplers have no law", name, refused)
		}
	}
	_, w := lawstest.Open(t, "xor3-mixed")
	for _, o := range []catalog.Options{
		{Draw: draw.Settings{Temperature: new(0.5)}}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,2"}},
		{Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave"}, LayerOptions: catalog.LayerOptions{Correct: "gibbs:1x1"}},
	} {
		reftest.Fails(t, reftest.Err(w.SamplerLaw(reftest.Must(catalog.New(o, samplers.Spec{}))(t))), "", o, "has a law")
	}
}

// TestKnown checks that samplers without a law are rejected before any computation, with the
// reason.
func TestKnown(t *testing.T) {
	t.Parallel()
	file, w := lawstest.Open(t, "xor3-mixed")
	cold, once := draw.Settings{Temperature: new(0.5)}, catalog.LayerOptions{Correct: "gibbs:1x1"}
	for _, test := range []struct {
		options catalog.Options
		why     string // "" if the law is known
	}{
		{catalog.Options{LayerOptions: once}, ""},
		{catalog.Options{Sampler: "confidence", Draw: cold}, ""},
		{catalog.Options{Draw: cold}, "network's own distribution"},
		{catalog.Options{Draw: cold, LayerOptions: once}, "network's own distribution"},
		{catalog.Options{Sampler: "confidence", Draw: cold, LayerOptions: once}, "network's own distribution"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 2}}, "blocks are filled"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 2, Correct: "gibbs:1x1"}}, "blocks are filled"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{MinLength: 1, Stop: new(int)}}, "guided or constrained"},
		{catalog.Options{Sampler: "confidence", LayerOptions: catalog.LayerOptions{MinLength: 1, Stop: new(int), Correct: "gibbs:1x1"}}, "corrections redraw"},
		{catalog.Options{Sampler: "confidence", LayerOptions: catalog.LayerOptions{BadWordsIDs: "1"}}, "banned word"},
		{catalog.Options{Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: schedule.RoundDLLM, Transfer: "binomial"}}, "is random"},
	} {
		s, err := catalog.New(test.options, file.Spec())
		reftest.OK(t, err)
		_, err = w.SamplerLaw(s)
		if told := laws.Known(s); (told == nil) != (err == nil) {
			t.Errorf("%+v: %v, and then %v", test.options, told, err)
		}
		if (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Errorf("%+v: %v, want %q", test.options, err, test.why)
		}
	}
}

// TestFractionalPower compares the first-hitting law and the NELBO of a world whose μ changes like
// λ^p, p a fraction, with estimates by the network's rows, within 4 standard errors.
func TestFractionalPower(t *testing.T) {
	var content map[string]json.RawMessage
	reftest.OK(t, json.Unmarshal(reftest.Must(os.ReadFile(reftest.Law(t, "timed3")))(t), &content))
	content["mu_weight"] = json.RawMessage(`{"c":1,"p":0.1}`)
	file := reftest.Must(world.Parse(reftest.Must(json.Marshal(content))(t)))(t)
	w := reftest.Must(laws.New(file))(t)
	e := reftest.Must(likelihood.New(file, likelihood.Options{}))(t)
	fhs := reftest.Must(catalog.New(catalog.Options{}, file.Spec()))(t)
	nelbo, mass := w.NELBO(), 0.0
	for i, p := range w.FHSLaw() {
		target := []likelihood.Target{likelihood.Whole(w.Sequence(i))}
		// The mean of n draws of K plans is above −log P, by n/2·SE² for large K.
		const draws = 24
		got := reftest.Must(e.Estimate(t.Context(), target, uint64(i), likelihood.Config{Form: likelihood.Plans, Plans: 2000, Draws: draws, Sampler: fhs}))(t)[0].Nats
		if over := got.Mean + math.Log(p); over < -4*got.SE || over > 4*got.SE+draws*got.SE*got.SE {
			t.Errorf("sequence %d has −log P %v, by plans %v", i, -math.Log(p), got)
		}
		got = reftest.Must(e.Estimate(t.Context(), target, uint64(i), likelihood.Config{Form: likelihood.Lambda, Draws: 20_000}))(t)[0].Nats
		if math.Abs(got.Mean-nelbo.BySequence[i]) > 4*got.SE {
			t.Errorf("sequence %d has the NELBO %v, estimated %v", i, nelbo.BySequence[i], got)
		}
		mass += p
	}
	if math.Abs(mass-1) > 1e-12 {
		t.Errorf("sequences sum to %v", mass)
	}
}

// TestBends: the NELBO of rows that bend within λ/p or are 0 at an end is the integral of −log μ, here by mpmath, and +Inf
// only where that is.
func TestBends(t *testing.T) {
	for _, c := range []struct {
		mu0, mu1, p, want float64
	}{
		{0.7, 0, 0.001, 0.35667494393873238 + 7.4854708605503449}, // −log 0.7 and the harmonic number 1/p
		{0, 0.7, 50, 50.356674943938732},
		{0, 0.7, 1000, 1000.3566749439387},
		{1e-300, 0.7, 50, 50.356624552839117},
		{1e-300, 0.7, 1000, 498.98982378964052},
		{0, 0, 1000, math.Inf(1)},
	} {
		row := func(mu float64) string { return fmt.Sprintf("[[null],[null],[[%v,%v]]]", mu, 1-mu) }
		file := reftest.Must(world.Parse(fmt.Appendf(nil, `{"schema":"mdm-laws-world/1","d":1,"V":2,"mu_kind":"time_mixture",
			"q0":[1,0],"mu0":%s,"mu1":%s,"mu_weight":{"c":1,"p":%v}}`, row(c.mu0), row(c.mu1), c.p)))(t)
		w := reftest.Must(laws.New(file))(t)
		n := w.NELBO()
		for what, got := range map[string][2]float64{
			"laws": {n.Expected, 1e-10}, "in t": {n.ContinuousT, 1e-10}, "in lambda": {n.Lambda, 1e-10}, "proposition 2": {w.Proposition2().ScoreEntropyIntegral, 1e-10},
		} {
			if got[0] != c.want && !(math.Abs(got[0]/c.want-1) <= got[1]) {
				t.Errorf("mu0 %g, mu1 %g, p %g: %s is %.17g, want %.17g", c.mu0, c.mu1, c.p, what, got[0], c.want)
			}
		}
	}
}
