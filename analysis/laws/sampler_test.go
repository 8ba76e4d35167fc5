package laws_test

import (
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// TestSamplerLaw draws plans of every sampler, fills them from the world's rows and
// compares the counts with the exact law: 30,000 draws a law, no state further than 5
// standard deviations (a chance of 3e-4 over some 500 states).
func TestSamplerLaw(t *testing.T) {
	ptr := func(x float64) *float64 { return &x }
	options := []samplers.Options{
		{}, {Sampler: "parallel-fhs", Sizes: "1,2"}, {Sampler: "parallel-fhs", Sizes: "2,1"},
		{Sampler: "paired-fhs", Sizes: "1,2", Floor: ptr(0)},
		{Sampler: "ordered"}, {Sampler: "ordered", Order: "random"}, {Sampler: "ordered", Order: "2,0,1"},
		{Sampler: "euler", Steps: 4}, {Sampler: "tweedie", Grid: "cosine", Steps: 2}, {Sampler: "tau-leaping", Tau: "one", Steps: 3, Finish: "leave"},
		{Sampler: "uniformization", Steps: 4, Finish: "leave", Delta: ptr(0.3)}, {Sampler: "matu", Steps: 2, T: ptr(1), Delta: ptr(0.1)},
		{Sampler: "dmpm", Steps: 3, Finish: "leave"}, {Sampler: "dmpm", Steps: 3, Noise: "cosine", Grid: "uniform"},
		{Sampler: "trapezoidal", Steps: 2, Grid: "lambda"}, {Sampler: "trapezoidal", Steps: 1, Grid: "uniform", Finish: "leave", Delta: ptr(0.5)},
	}
	for _, name := range []string{"timed3", "xor3-mixed"} {
		_, w := lawstest.Open(t, name)
		for _, o := range options {
			s, err := samplers.New(o, samplers.Spec{TimeConditioned: w.Timed(), InfiniteSigma: true})
			if err != nil {
				t.Fatal(err)
			}
			law, err := w.SamplerLaw(s)
			if err != nil {
				t.Fatal(err)
			}
			const n = 30000
			counts := make([]float64, w.States)
			for i := range uint64(n) {
				counts[run(t, w, s, draw.NewStream(11, i))]++
			}
			if l, _ := s.Law(); l.OneByOne || l.LookBack { // What is left masked counts as one state.
				for x := range counts {
					if x != w.AllMask() && w.Masks(x) > 0 {
						counts[w.AllMask()], counts[x] = counts[w.AllMask()]+counts[x], 0
					}
				}
			}
			for x, p := range law {
				if sd := math.Sqrt(n * p * (1 - p)); math.Abs(counts[x]-n*p) > 5*sd+1e-9 {
					t.Errorf("%s: %s: state %d was drawn %v times, %.1f expected, standard deviation %.1f", name, s, x, counts[x], n*p, sd)
				}
			}
		}
	}
	testUnplanned(t)
	_, w := lawstest.Open(t, "xor3-mixed")
	for _, o := range []samplers.Options{
		{Draw: draw.Draw{Temperature: ptr(0.5)}}, {Sampler: "parallel-fhs", Sizes: "2,2"}, {Sampler: "euler", Steps: 4, Scores: "raw"},
		{Sampler: "dmpm", Steps: 3, Finish: "leave", Remasking: samplers.Remasking{Correct: "gibbs:1x1"}},
	} {
		s, err := samplers.New(o, samplers.Spec{LogScores: o.Scores != ""})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.SamplerLaw(s); err == nil {
			t.Errorf("%v has a law", o)
		}
	}
}

// run goes through a plan on the world's table.
func run(t *testing.T, w *laws.World, s *samplers.Sampler, st *draw.Stream) int {
	var p samplers.Plan
	free := make([]int, w.D)
	for l := range free {
		free[l] = l
	}
	if err := s.Plan(&p, st, free); err != nil {
		t.Fatal(err)
	}
	state := w.AllMask()
	row := func(rows []float64, state, l int) []float64 { return rows[(state*w.D+l)*w.V : (state*w.D+l+1)*w.V] }
	var before []float64
	was := state
	mixed := make([]float64, w.V)
	for _, b := range p.Blocks {
		rows := w.Rows(b.Lambda)
		next := state
		for _, l := range b.Positions {
			fill := row(rows, state, l)
			if b.Weight != 0 {
				draw.Mix(mixed, fill, row(before, was, l), b.Weight, b.Floor)
				fill = mixed
			}
			next = w.Reveal(next, l, reftest.Pick(fill, st.Float64()))
		}
		before, was, state = rows, state, next
	}
	if s.Denoises() {
		rows, next := w.Rows(p.LeftLambda), state
		for _, l := range p.Left {
			next = w.Reveal(next, l, reftest.Pick(row(rows, state, l), st.Float64()))
		}
		state = next
	}
	return state
}

// testUnplanned compares the laws of decoders without a plan with draws of the engine.
func testUnplanned(t *testing.T) {
	t.Helper()
	cold := 0.5
	for _, name := range []string{"timed3", "xor3-mixed"} {
		open, w := lawstest.Open(t, name)
		for _, o := range []samplers.Options{
			{Sampler: "confidence", Steps: 2}, {Sampler: "confidence", Steps: 2, Draw: draw.Draw{Temperature: &cold}}, {Sampler: "confidence", Steps: 2, Deciding: samplers.Deciding{Score: samplers.ScoreRandom}},
			{Sampler: "confidence", Steps: 3, Deciding: samplers.Deciding{Rule: schedule.RoundDream, Score: samplers.ScoreMargin, AlgTemp: 0.3}},
			{Sampler: "threshold", Deciding: samplers.Deciding{Threshold: 0.6, BlockLength: 2}}, {Sampler: "threshold", Steps: 2, Deciding: samplers.Deciding{Threshold: 0.6, Rule: schedule.RoundDream}},
			{Sampler: "entropy-bounded", Deciding: samplers.Deciding{Gamma: &cold}}, {Sampler: "llada2", Deciding: samplers.Deciding{Threshold: 0.6}},
			{Sampler: "remdm", Steps: 4, Remasking: samplers.Remasking{Eta: 0.4}}, {Sampler: "remdm", Steps: 3, Remasking: samplers.Remasking{Remask: samplers.RemaskConf}}, {Sampler: "p2", Steps: 2},
			{Sampler: "confidence", Steps: 2, Shaping: samplers.Shaping{MinLength: 2}, Deciding: samplers.Deciding{Stop: new(int)}},
		} {
			s, err := samplers.New(o, open.Spec())
			if err != nil {
				t.Fatal(err)
			}
			law, err := w.SamplerLaw(s)
			if err != nil {
				t.Fatal(err)
			}
			const n = 20000
			counts := make([]float64, w.States)
			canvas := []int{w.V, w.V, w.V}
			seqs := func(yield func(samplers.Sequence) bool) {
				for i := range uint64(n) {
					if !yield(samplers.Sequence{Index: i, Canvas: canvas}) {
						return
					}
				}
			}
			if _, err := samplers.Sample(t.Context(), open, seqs, samplers.Config{Method: s, Batch: 64}, func(r samplers.Result) error {
				counts[open.State(r.IDs)]++
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			var sum float64
			for x, p := range law {
				sum += p
				if sd := math.Sqrt(n * p * (1 - p)); math.Abs(counts[x]-n*p) > 5*sd+1e-9 {
					t.Errorf("%s: %s: state %d was drawn %v times, %.1f expected, standard deviation %.1f", name, s, x, counts[x], n*p, sd)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s: %s: sums to %v", name, s, sum)
			}
		}
	}
}

// TestKnown: what no law is worked out for is refused before anything is worked out, with the reason.
func TestKnown(t *testing.T) {
	t.Parallel()
	file, w := lawstest.Open(t, "xor3-mixed")
	cold, once := draw.Draw{Temperature: new(0.5)}, samplers.Remasking{Correct: "gibbs:1x1"}
	stop := samplers.Deciding{Stop: new(int)}
	for _, test := range []struct {
		options samplers.Options
		why     string // "" where the law is known
	}{
		{samplers.Options{Remasking: once}, ""},
		{samplers.Options{Sampler: "confidence", Draw: cold}, ""},
		{samplers.Options{Draw: cold}, "another distribution"},
		{samplers.Options{Draw: cold, Remasking: once}, "another distribution"},
		{samplers.Options{Sampler: "confidence", Draw: cold, Remasking: once}, "another distribution"},
		{samplers.Options{Sampler: "tweedie", By: draw.ByFloat32Gumbel}, "another distribution"},
		{samplers.Options{Deciding: samplers.Deciding{BlockLength: 2}}, "blocks are filled"},
		{samplers.Options{Remasking: once, Deciding: samplers.Deciding{BlockLength: 2}}, "blocks are filled"},
		{samplers.Options{Shaping: samplers.Shaping{MinLength: 1}, Deciding: stop}, "guided or constrained"},
		{samplers.Options{Sampler: "confidence", Shaping: samplers.Shaping{MinLength: 1}, Deciding: stop, Remasking: once}, "corrections draw again"},
		{samplers.Options{Sampler: "confidence", Shaping: samplers.Shaping{BadWordsIDs: "1"}}, "banned word"},
		{samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: schedule.RoundDLLM, Transfer: "binomial"}}, "is drawn"},
	} {
		s, err := samplers.New(test.options, file.Spec())
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.SamplerLaw(s)
		if told := laws.Known(s); (told == nil) != (err == nil) {
			t.Errorf("%+v: %v, and then %v", test.options, told, err)
		}
		if (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Errorf("%+v: %v, want %q", test.options, err, test.why)
		}
	}
}
