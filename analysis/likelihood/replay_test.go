package likelihood_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/schedule"
)

// TestDecoderLaws checks on worlds that the probabilities of all texts under decoders without a
// plan sum to 1, that each is the same alone and among others that share its rows, and that rows
// cover no more canvases than the text has subsets.
func TestDecoderLaws(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	gamma := 0.3
	var options []catalog.Options
	for _, score := range []rank.RankBy{rank.ByConfidence, rank.ByMargin, rank.ByRandom} {
		options = append(options, catalog.Options{Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: score}})
	}
	options = append(options, catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.6}},
		catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: &gamma}}, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}})
	for name, file := range worlds(t) {
		e, f := evaluator(t, file), file.Facts()
		var ss []*catalog.Sampler
		for _, o := range options {
			ss = append(ss, reftest.Must(catalog.New(o, file.Spec()))(t))
		}
		sums := make([]float64, len(ss))
		for x := range len(file.Q0()) {
			target := likelihood.Whole(sequence(x, f.Length, f.Columns))
			before := e.Totals().Rows
			together := reftest.Must(e.Laws(context.Background(), target, ss))(t)
			// The random order takes as many rows again.
			if rows := e.Totals().Rows - before; !f.TimeConditioned && rows > 2*(1<<f.Length-1) {
				t.Errorf("%s: %d rows for %d subsets", name, rows, 1<<f.Length)
			}
			for i, s := range ss {
				values := reftest.Must(e.Values(context.Background(), []likelihood.Target{target}, s))(t)
				p, alone := math.Exp(-together[i].NegLog), values[0].Sampler
				if sums[i] += p; math.Abs(alone.NegLog-together[i].NegLog) > 1e-9 && p > 0 {
					t.Errorf("%s, %v, text %d: %v and alone %v", name, s, x, p, math.Exp(-alone.NegLog))
				}
			}
		}
		for i, s := range ss {
			if math.Abs(sums[i]-1) > 1e-6 {
				t.Errorf("%s, %v: sums to %v", name, s, sums[i])
			}
		}
	}
}

// TestReplayFits checks that decoders that choose by drawn tokens are an error above 16 positions,
// that single paths never are, and that other errors give the reason.
func TestReplayFits(t *testing.T) {
	t.Parallel()
	e := evaluator(t, worlds(t)["markov3-exact.json"])
	for want, o := range map[string]catalog.Options{
		"":                             {Sampler: "entropy-bounded"},
		"at most 16 free positions":    {Sampler: "threshold"},
		"masks again what it revealed": {Sampler: "remdm"},
		"revealed tokens are replaced": {Sampler: "llada2", RankOptions: catalog.RankOptions{EditingThreshold: 0.9}},
		"corrections redraw":           {LayerOptions: catalog.LayerOptions{Correct: "gibbs:1x1"}},
		"each as a canvas of its own":  {LayerOptions: catalog.LayerOptions{BlockLength: 2}},
		"depends on the tokens drawn":  {Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Score: rank.ByConfidence}},
		"number of positions that a call reveals is random": {Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Rule: schedule.RoundDLLM, Transfer: "binomial"}},
	} {
		s := reftest.Must(catalog.New(o, samplers.Spec{}))(t)
		if err := e.Fits(17, s); (err == nil) != (strings.TrimSpace(want) == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", s, err, want)
		}
		if _, unknown := s.Law().(samplers.Unknown); unknown {
			target := likelihood.Whole(slices.Repeat([]int{0}, 3))
			reftest.Fails(t, reftest.Err(e.Laws(context.Background(), target, []*catalog.Sampler{s})), want, s)
			reftest.Fails(t, reftest.Err(e.Values(context.Background(), []likelihood.Target{target}, s)), want, s)
		}
	}
}

// TestDoubleRows checks on rows that are equal in float32 that a likelihood keeps the tokens that
// sampling keeps.
func TestDoubleRows(t *testing.T) {
	t.Parallel()
	w := reftest.Must(world.Parse([]byte(`{"schema":"mdm-laws-world/1","d":1,"V":2,"mu_kind":"time_free","mu0":[[null],[null],[[0.499999999,0.500000001]]]}`)))(t)
	for _, how := range []draw.Settings{{TopK: 1}, {TopP: 0.5}, {Temperature: new(0.0)}, {Temperature: new(1e-11)}} {
		e := reftest.Must(likelihood.New(w, likelihood.Options{Draw: how}))(t)
		for _, name := range []string{"fhs", "tweedie", "confidence", "entropy-bounded"} {
			s := reftest.Must(catalog.New(catalog.Options{Sampler: name, Draw: how}, w.Spec()))(t)
			if got := reftest.Must(e.Exact(t.Context(), likelihood.Whole([]int{1}), s))(t).NegLog; math.Abs(got) > 1e-12 {
				t.Errorf("%s, %+v: −log P is %v, want 0", name, how, got)
			}
			reftest.OK(t, reftest.Err(samplers.Sample(t.Context(), w, samplers.Copies([]int{2}, 0, 20), samplers.Config{Method: s}, func(r samplers.Result) error {
				if r.IDs[0] != 1 {
					t.Errorf("%s, %+v: a sample of probability 0", name, how)
				}
				return nil
			})), name)
		}
	}
}

// TestDecoderPlans checks that bounds by paths are above −log P if they are estimates, decrease in
// K, and are exact if a single path leads to a text.
func TestDecoderPlans(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	file := worlds(t)["markov4-sharp.json"]
	e, target := evaluator(t, file), likelihood.Whole([]int{0, 1, 0, 1})
	for score, one := range map[rank.RankBy]bool{rank.ByMargin: true, rank.ByConfidence: false, rank.ByRandom: false} {
		s := reftest.Must(catalog.New(catalog.Options{Sampler: "confidence", Steps: 4, RankOptions: catalog.RankOptions{Score: score}}, file.Spec()))(t)
		exact := reftest.Must(e.Exact(context.Background(), target, s))(t)
		var bounds []float64
		for _, k := range []int{1, 8} {
			r := reftest.Must(e.Estimate(context.Background(), []likelihood.Target{target}, 0, likelihood.Config{Form: likelihood.Plans, Draws: 200, Plans: k, Sampler: s, Seed: 1}))(t)
			x := r[0].Nats
			if x.Mean < exact.NegLog-5*x.SE-1e-9 || one && (x.SE != 0 || x.Mean > exact.NegLog+1e-9 || r[0].Rows != 4) {
				t.Errorf("%s, K = %d: %+v in %d rows, exact %v", score, k, x, r[0].Rows, exact.NegLog)
			}
			if !one && (r[0].Lower == nil || r[0].Lower.Estimate != nil || r[0].Lower.Reason == "") {
				t.Errorf("%s: a lower side, or no reason why there is none: %+v", score, r[0].Lower)
			}
			bounds = append(bounds, x.Mean)
		}
		if !one && !(bounds[1] < bounds[0]) {
			t.Errorf("%s: bounds %v do not fall with K", score, bounds)
		}
	}
}
