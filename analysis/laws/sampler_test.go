package laws_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/likelihood"
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
	ptr := func(x float64) *float64 { return &x }
	planned := func(d int) []catalog.Options {
		return []catalog.Options{
			{}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: fmt.Sprintf("1,%d", d-1)}}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: fmt.Sprintf("%d,1", d-1)}}, {Sampler: "parallel-fhs", Steps: 1},
			{Sampler: "paired-fhs", Floor: ptr(0), PlanOptions: catalog.PlanOptions{Sizes: fmt.Sprintf("1,%d", d-1)}}, {Sampler: "random-sizes", Steps: 2}, {Sampler: "random-sizes", Steps: 2, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, {Sampler: "random-sizes", Steps: 3},
			{Sampler: "ordered"}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "2,0,1,3"[:2*d-1]}},
			{Sampler: "dus"},
			{Sampler: "spread", Steps: 2}, {Sampler: "spread", Steps: 3},
			{Sampler: "euler", Steps: 4}, {Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "cosine"}}, {Sampler: "ancestral", Steps: 1, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "tau-leaping", Steps: 3, PlanOptions: catalog.PlanOptions{Tau: "one", Finish: "leave"}},
			{Sampler: "uniformization", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave", Delta: (*catalog.Theta)(ptr(0.3))}}, {Sampler: "matu", Steps: 2, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(ptr(1)), Delta: (*catalog.Theta)(ptr(0.1))}},
			{Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, {Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Noise: "cosine", Grid: "uniform"}},
			{Sampler: "trapezoidal", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "trapezoidal", Steps: 1, PlanOptions: catalog.PlanOptions{Grid: "uniform", Finish: "leave", Delta: (*catalog.Theta)(ptr(0.5))}},
		}
	}
	unplanned := []catalog.Options{
		{Sampler: "confidence", Steps: 2}, {Sampler: "confidence", Steps: 2, Draw: draw.Settings{Temperature: ptr(0.5)}}, {Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: rank.ByRandom}},
		{Sampler: "confidence", Steps: 3, RankOptions: catalog.RankOptions{Rule: schedule.RoundDream, Score: rank.ByMargin, AlgTemp: 0.3}},
		{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.6}, LayerOptions: catalog.LayerOptions{BlockLength: 2}}, {Sampler: "threshold", Steps: 2, RankOptions: catalog.RankOptions{Threshold: 0.6, Rule: schedule.RoundDream}},
		{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: ptr(0.5)}}, {Sampler: "llada2", RankOptions: catalog.RankOptions{Threshold: 0.6}},
		{Sampler: "remdm", Steps: 4, RemaskOptions: catalog.RemaskOptions{Eta: 0.4}}, {Sampler: "remdm", Steps: 3, RemaskOptions: catalog.RemaskOptions{Remask: remask.RemaskConf}}, {Sampler: "p2", Steps: 2},
		{Sampler: "confidence", Steps: 2, LayerOptions: catalog.LayerOptions{MinLength: 2, Stop: new(int)}},
	}
	for _, name := range []string{"timed3", "xor3-mixed", "markov4-sharp"} {
		file, w := lawstest.Open(t, name)
		options := planned(w.D)
		if w.D == 3 {
			options = append(options, unplanned...)
		}
		for _, o := range options {
			s := reftest.Must(catalog.New(o, file.Spec()))(t)
			law := reftest.Must(w.SamplerLaw(s))(t)
			counts := drawn(t, file, w, s, 10_000)
			if l, planned := s.Law(); planned && (l.OneByOne || l.LookBack) { // All states with masks count as one.
				for x := range counts {
					if x != w.AllMask() && w.Masks(x) > 0 {
						counts[w.AllMask()], counts[x] = counts[w.AllMask()]+counts[x], 0
					}
				}
			}
			if p := reftest.Goodness(counts, law); p < 1e-4 || math.Abs(total(law)-1) > 1e-11 {
				t.Errorf("%s: %s: p = %.3g, sums to %v", name, s, p, total(law))
			}
		}
	}
	_, w := lawstest.Open(t, "xor3-mixed")
	for _, o := range []catalog.Options{
		{Draw: draw.Settings{Temperature: ptr(0.5)}}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,2"}}, {Sampler: "euler", Steps: 4, Scores: "raw"},
		{Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave"}, LayerOptions: catalog.LayerOptions{Correct: "gibbs:1x1"}},
	} {
		reftest.Fails(t, reftest.Err(w.SamplerLaw(reftest.Must(catalog.New(o, samplers.Spec{LogScores: o.Scores != ""}))(t))), "", o, "has a law")
	}
}

// TestKnown checks that samplers without a law are rejected before any computation, with the
// reason.
func TestKnown(t *testing.T) {
	t.Parallel()
	file, w := lawstest.Open(t, "xor3-mixed")
	cold, once := draw.Settings{Temperature: new(0.5)}, catalog.RemaskOptions{Correct: "gibbs:1x1"}
	stop := catalog.RankOptions{Stop: new(int)}
	for _, test := range []struct {
		options catalog.Options
		why     string // "" if the law is known
	}{
		{catalog.Options{RemaskOptions: once}, ""},
		{catalog.Options{Sampler: "confidence", Draw: cold}, ""},
		{catalog.Options{Draw: cold}, "network's own distribution"},
		{catalog.Options{Draw: cold, RemaskOptions: once}, "network's own distribution"},
		{catalog.Options{Sampler: "confidence", Draw: cold, RemaskOptions: once}, "network's own distribution"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 2}}, "blocks are filled"},
		{catalog.Options{RemaskOptions: once, LayerOptions: catalog.LayerOptions{BlockLength: 2}}, "blocks are filled"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{MinLength: 1}, RankOptions: stop}, "guided or constrained"},
		{catalog.Options{Sampler: "confidence", LayerOptions: catalog.LayerOptions{MinLength: 1}, RankOptions: stop, RemaskOptions: once}, "corrections redraw"},
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

// TestFractionalPower checks that likelihoods of a world whose μ changes like λ^p, p a fraction,
// are as exact as [laws.World.FHSLaw], which needs no quadrature, and that those of groups of two
// sum to 1.
func TestFractionalPower(t *testing.T) {
	var content map[string]json.RawMessage
	reftest.OK(t, json.Unmarshal(reftest.Must(os.ReadFile(reftest.Law(t, "timed3")))(t), &content))
	content["mu_weight"] = json.RawMessage(`{"c":1,"p":0.1}`)
	file := reftest.Must(world.Parse(reftest.Must(json.Marshal(content))(t)))(t)
	w := reftest.Must(laws.New(file))(t)
	e := reftest.Must(likelihood.New(file, likelihood.Options{}))(t)
	fhs := reftest.Must(catalog.New(catalog.Options{}, file.Spec()))(t)
	groups := reftest.Must(catalog.New(catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,1"}}, file.Spec()))(t)
	nelbo, mass := w.NELBO(), 0.0
	for i, want := range w.FHSLaw() {
		got := reftest.Must(e.Laws(t.Context(), likelihood.Whole(w.Sequence(i)), []*catalog.Sampler{fhs, groups}))(t)
		if p := math.Exp(-got[0].NegLog); math.Abs(p-want) > 1e-12 {
			t.Errorf("sequence %d has the probability %v, want %v", i, p, want)
		}
		table := reftest.Must(e.TimedTableWithin(t.Context(), likelihood.Whole(w.Sequence(i)), 0, false))(t)
		if got := table.NELBO().Value; math.Abs(got-nelbo.BySequence[i]) > 1e-11 {
			t.Errorf("sequence %d has the NELBO %v, want %v", i, got, nelbo.BySequence[i])
		}
		mass += math.Exp(-got[1].NegLog)
	}
	if math.Abs(mass-1) > 1e-12 {
		t.Errorf("groups of two and one sum to %v", mass)
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
		e := reftest.Must(likelihood.New(file, likelihood.Options{}))(t)
		table := reftest.Must(e.TimedTableWithin(t.Context(), likelihood.Whole([]int{0}), 0, true))(t)
		n := w.NELBO()
		for what, got := range map[string][2]float64{
			"likelihood": {table.NELBO().Value, 1e-13}, "score entropy": {table.ScoreEntropy().Raw, 1e-13}, "laws": {n.Expected, 1e-10},
			"in t": {n.ContinuousT, 1e-10}, "in lambda": {n.Lambda, 1e-10}, "proposition 2": {w.Proposition2().ScoreEntropyIntegral, 1e-10},
		} {
			if got[0] != c.want && !(math.Abs(got[0]/c.want-1) <= got[1]) {
				t.Errorf("mu0 %g, mu1 %g, p %g: %s is %.17g, want %.17g", c.mu0, c.mu1, c.p, what, got[0], c.want)
			}
		}
	}
}

// TestJumps: the likeliest token of a row (m(1−λ), 1−m(1−λ)) is the first while λ is below a = 1−1/(2m), a jump that no
// smooth rule resolves. With a for the first position and b for the second, P(0,0) = a² − max(0,a−b)² is within the stated
// error.
func TestJumps(t *testing.T) {
	t.Parallel()
	for i := range 49 {
		a, b := 0.1+0.3*float64(i%7)/7, 0.1+0.3*float64(i/7)/7
		table := func(one, two float64) string {
			first, second := fmt.Sprintf("[%v,%v]", one, 1-one), fmt.Sprintf("[%v,%v]", two, 1-two)
			return strings.NewReplacer("A", first, "B", second, "0", "null").Replace("[[0,0],[0,0],[0,B],[0,0],[0,0],[0,B],[B,0],[B,0],[A,A]]")
		}
		file := reftest.Must(world.Parse(fmt.Appendf(nil, `{"schema":"mdm-laws-world/1","d":2,"V":2,"mu_kind":"time_mixture",
			"mu0":%s,"mu1":%s,"mu_weight":{"c":1,"p":1}}`, table(1/(2-2*a), 1/(2-2*b)), table(0, 0))))(t)
		settings := draw.Settings{TopK: 1}
		if i%2 == 1 {
			settings = draw.Settings{Temperature: new(float64)}
		}
		e := reftest.Must(likelihood.New(file, likelihood.Options{Draw: settings}))(t)
		got := reftest.Must(e.TimedTableWithin(t.Context(), likelihood.Whole([]int{0, 0}), 0, false))(t).FHS()
		if want := -math.Log(a*a - math.Pow(max(0, a-b), 2)); math.Abs(got.Value-want) > got.Error {
			t.Errorf("%+v, jumps at %.2f and %.2f: %v with an error of %.2g, want %v", settings, a, b, got.Value, got.Error, want)
		}
	}
}
