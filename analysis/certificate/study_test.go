package certificate_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// some returns samplers of every kind.
func some(t testing.TB, w *world.World) []*catalog.Sampler { return drawing(t, w, draw.Settings{}) }

// drawing returns samplers of every kind with the given draw settings.
func drawing(t testing.TB, w *world.World, how draw.Settings) (out []*catalog.Sampler) {
	for _, o := range []catalog.Options{
		{}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}, {Sampler: "parallel-fhs", Steps: 1}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "random-sizes", Steps: 2},
		{Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "tweedie", Steps: 5, PlanOptions: catalog.PlanOptions{Grid: "cos2"}}, {Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "lambda", Delta: new(catalog.Theta(0.3))}},
		{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(3))}}, {Sampler: "euler", Steps: 6, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(3)), Finish: "leave"}}, {Sampler: "tau-leaping", Steps: 5, PlanOptions: catalog.PlanOptions{Tau: "one"}},
		{Sampler: "uniformization", Steps: 4, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(1)), Delta: new(catalog.Theta(0.3))}}, {Sampler: "matu", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, {Sampler: "dmpm", Steps: 3},
	} {
		o.Draw = how
		out = append(out, lawstest.NewFor(t, o, w.Spec()))
	}
	return out
}

func measured(t *testing.T, net samplers.Network, canvas []int, ss []*catalog.Sampler, cfg certificate.Config) *certificate.Study {
	t.Helper()
	return reftest.Must(certificate.Measure(t.Context(), net, canvas, ss, cfg))(t)
}

// measured returns the bounds that a study estimates, which averages over the cuts of an order if a
// grid makes them.
func (e exact) measured(s *catalog.Sampler, longest int) pair {
	if _, ok := s.Grid(); ok && longest != 1 {
		return e.order
	}
	return e.plan
}

// TestEstimates compares means of runs with the exact expectations, with and without averages over
// the cuts of an order: none of 280 differs by more than 5 standard errors, which has probability
// 2e-4 (rows of a world are float32).
func TestEstimates(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "theorem5-point3", "markov3-exact", "markov4-sharp", "dirichlet3-noisy"} {
		file, w := lawstest.Open(t, name)
		ss, all := some(t, file), newEnumerator(w)
		for _, longest := range []int{0, 1} {
			st := measured(t, file, lawstest.AllMask(file), ss, certificate.Config{Runs: 1500, Seed: 5, Batch: 32, Longest: longest})
			// One call per position for 32 runs and all samplers.
			if want := w.D * 47; st.Calls != want || st.Runs[7].Asked != w.D {
				t.Errorf("%s: %d calls, %d canvases a run, want %d and %d", name, st.Calls, st.Runs[7].Asked, want, w.D)
			}
			for i, s := range ss {
				got, want := st.Bound(i), all.of(t, s).measured(s, longest)
				if math.Abs(got.TV.Mean-want.tv) > 5*got.TV.SE+2e-7 || math.Abs(got.KL.Mean-want.kl) > 5*got.KL.SE+2e-7 {
					t.Errorf("%s %s, longest %d: %v and %v, want %v", name, s, longest, got.TV, got.KL, want)
				}
			}
		}
	}
}

// TestDraws is TestEstimates with changed draw settings, which first-hitting shares with the
// samplers. A sampler that keeps the most probable tokens excludes texts, and the bound on KL is
// then infinite.
func TestDraws(t *testing.T) {
	file, w := lawstest.Open(t, "dirichlet3-noisy")
	how := draw.Settings{Temperature: new(0.5), TopK: 2}
	vocabulary := file.Spec().Vocabulary
	categorical := reftest.Must(draw.NewCategorical(vocabulary, how))(t)
	rows := slices.Clone(w.Rows(1))
	logits, p := make([]float32, vocabulary.Columns), make([]float64, vocabulary.Columns)
	for at := 0; at < len(rows); at += w.V {
		for a := range w.V {
			logits[a] = float32(math.Log(rows[at+a]))
		}
		if rows[at] == 0 && laws.TV(rows[at:at+w.V], make([]float64, w.V)) == 0 {
			continue // of a visible position
		}
		reftest.OK(t, categorical.Probabilities(p, draw.Single(logits)))
		copy(rows[at:at+w.V], p)
	}
	ss, all := drawing(t, file, how), enumeratorOf(w, rows)
	st := measured(t, file, lawstest.AllMask(file), ss, certificate.Config{Runs: 1500, Seed: 7, Batch: 32})
	infinite := 0
	for i, s := range ss {
		got, want := st.Bound(i), all.of(t, s).measured(s, 0)
		if math.IsInf(want.kl, 1) {
			infinite++
		}
		if math.Abs(got.TV.Mean-want.tv) > 5*got.TV.SE+2e-7 || got.KL.Mean != want.kl && !(math.Abs(got.KL.Mean-want.kl) <= 5*got.KL.SE+2e-7) {
			t.Errorf("%s: %v and %v, want %v", s, got.TV, got.KL, want)
		}
	}
	if infinite == 0 {
		t.Error("no sampler excludes a text")
	}
}

// TestTimed compares with the exact laws known on a time-conditioned network: bounds are at most 4
// standard errors below them. Samplers that reveal one position a call at other times than first-hitting
// have another law there.
func TestTimed(t *testing.T) {
	file, w := lawstest.Open(t, "timed3")
	ss := some(t, file)
	st := measured(t, file, lawstest.AllMask(file), ss, certificate.Config{Runs: 3000, Seed: 6, Batch: 64})
	compared := 0
	for i, s := range ss {
		got := st.Bound(i)
		if !slices.Contains([]string{"parallel-fhs", "uniformization", "matu"}, s.Settings().Sampler) {
			compared++
			if is := distances(t, w, s); got.TV.Mean+4*got.TV.SE < is.tv-2e-7 || got.KL.Mean+4*got.KL.SE < is.kl-2e-7 {
				t.Errorf("%s: %+v, bounds %v and %v", s, is, got.TV, got.KL)
			}
		}
		if same := i == 0; (got.TV.Mean == 0) != same || (got.KL.Mean == 0) != same || same && (got.TVLimit != 0 || got.KLLimit != 0) {
			t.Errorf("%s: bounds %v and %v", s, got.TV, got.KL)
		}
	}
	if compared != 10 {
		t.Errorf("%d laws compared", compared)
	}
}

// TestCoverage counts, over 200 seeds, how often intervals and limits from few runs cover the exact
// value, including means dominated by rare texts: at least 95 %. Fewer than 178 times has
// probability 1e-3 at 95 %.
func TestCoverage(t *testing.T) {
	sharp, law := lawstest.Sharp(t, 4, 1)
	markov, ofMarkov := lawstest.Open(t, "markov4-sharp")
	for _, c := range []struct {
		file *world.World
		w    *laws.World
		runs int
	}{{markov, ofMarkov, 40}, {markov, ofMarkov, 8}, {sharp, law, 40}, {sharp, law, 8}} {
		all, canvas := newEnumerator(c.w), lawstest.AllMask(c.file)
		var ss []*catalog.Sampler
		var exact []pair
		for _, n := range []int{1, 2, 4, 16, 64} {
			s := lawstest.NewFor(t, catalog.Options{Sampler: "tweedie", Steps: n, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, c.file.Spec())
			ss, exact = append(ss, s), append(exact, all.of(t, s).order)
		}
		counts := make([][4]int, len(ss))
		for seed := range uint64(200) {
			st := measured(t, c.file, canvas, ss, certificate.Config{Runs: c.runs, Seed: seed, Batch: c.runs})
			for i, e := range exact {
				// A run's tokens are drawn from float32 rows.
				got := st.Bound(i)
				for k, covers := range []bool{got.TV.Lo <= e.tv+1e-7 && e.tv <= got.TV.Hi+1e-7, got.KL.Lo <= e.kl+1e-7 && e.kl <= got.KL.Hi+1e-7, e.tv <= got.TVLimit+1e-7, e.kl <= got.KLLimit+1e-7} {
					if covers {
						counts[i][k]++
					}
				}
			}
		}
		for i, n := range counts {
			t.Logf("%d runs, %s: of 200, TV, KL and their limits %d", c.runs, ss[i], n)
			if slices.Min(n[:]) < 178 {
				t.Errorf("%d runs, %s: of 200, TV, KL and their limits %d", c.runs, ss[i], n)
			}
		}
	}
}

// TestSameRun checks that the result for a sampler depends neither on the other samplers nor on the
// number of runs that share a call.
func TestSameRun(t *testing.T) {
	file, _ := lawstest.Open(t, "markov4-sharp")
	ss := some(t, file)
	canvas := lawstest.AllMask(file)
	st := measured(t, file, canvas, ss, certificate.Config{Runs: 9, Seed: 3, Batch: 4})
	for i, s := range ss {
		one := measured(t, file, canvas, []*catalog.Sampler{s}, certificate.Config{Runs: 9, Seed: 3})
		for j, r := range one.Runs {
			if r.Log[0] != st.Runs[j].Log[i] {
				t.Errorf("%s: run %d is %+v alone", s, j, r)
			}
		}
	}
}

// TestCurve checks that a curve over N takes the calls of a single N, and about as many positions
// as its smallest N, whose blocks are longest.
func TestCurve(t *testing.T) {
	file, _ := lawstest.Open(t, "markov4-sharp")
	var ss []*catalog.Sampler
	for n := 1; n <= 4096; n *= 4 {
		ss = append(ss, lawstest.NewFor(t, catalog.Options{Sampler: "tweedie", Steps: n, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, file.Spec()))
	}
	cost := func(ss ...*catalog.Sampler) (calls, rows int) {
		st := measured(t, file, lawstest.AllMask(file), ss, certificate.Config{Runs: 8, Seed: 3, Batch: 4})
		return st.Calls, st.Runs[0].Rows
	}
	calls, rows := cost(ss...)
	firstCalls, firstRows := cost(ss[0])
	lastCalls, lastRows := cost(ss[len(ss)-1])
	if calls != 2*4 || calls != firstCalls || calls != lastCalls || rows != firstRows || lastRows >= rows || lastRows < 4 {
		t.Errorf("all take %d calls and %d positions a run, the first %d and %d, the last %d and %d", calls, rows, firstCalls, firstRows, lastCalls, lastRows)
	}
}

// TestEnded checks that an error ends a study, and that a context that ends leaves the finished runs.
func TestEnded(t *testing.T) {
	file, _ := lawstest.Open(t, "parity4-exact")
	ss := some(t, file)
	ctx, canvas := context.Background(), lawstest.AllMask(file)
	whole := measured(t, file, canvas, ss, certificate.Config{Runs: 40, Seed: 2, Batch: 8})
	stop := errors.New("stop")
	if _, err := certificate.Measure(ctx, file, canvas, ss, certificate.Config{Runs: 40, Seed: 2, Batch: 8, OnRun: func(certificate.Run) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
	ending, cancel := context.WithCancel(ctx)
	part, err := certificate.Measure(ending, file, canvas, ss, certificate.Config{Runs: 40, Seed: 2, Batch: 8, OnRun: func(r certificate.Run) error {
		if r.Index == 15 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || part == nil || !reflect.DeepEqual(part.Runs, whole.Runs[:16]) {
		t.Errorf("cancelled: %v, %+v", err, part)
	}
}

// TestMistakes checks that invalid arguments are errors.
func TestMistakes(t *testing.T) {
	file, _ := lawstest.Open(t, "xor3-mixed")
	fhs := lawstest.NewFor(t, catalog.Options{}, file.Spec())
	mask := file.Facts().MaskID
	for name, c := range map[string]struct {
		canvas []int
		o      catalog.Options
		cfg    certificate.Config
		want   string
	}{
		"no runs":      {lawstest.AllMask(file), catalog.Options{}, certificate.Config{}, "0 runs"},
		"nothing free": {[]int{0, 1, 0}, catalog.Options{}, certificate.Config{Runs: 1}, "no free position"},
		"an order":     {lawstest.AllMask(file), catalog.Options{Sampler: "ordered"}, certificate.Config{Runs: 1}, "order is not uniform"},
		"no plan":      {lawstest.AllMask(file), catalog.Options{Sampler: "confidence"}, certificate.Config{Runs: 1}, "no plan"},
		"other draws":  {lawstest.AllMask(file), catalog.Options{Draw: draw.Settings{TopK: 1}}, certificate.Config{Runs: 1}, "different ways"},
		"other sizes":  {[]int{mask, 0, mask}, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,1"}}, certificate.Config{Runs: 1}, "sizes sum to 3"},
		"wrong length": {[]int{mask, mask}, catalog.Options{}, certificate.Config{Runs: 1}, "need 3 ids"},
	} {
		reftest.Fails(t, reftest.Err(certificate.Measure(context.Background(), file, c.canvas, []*catalog.Sampler{fhs, lawstest.NewFor(t, c.o, file.Spec())}, c.cfg)), c.want, name)
	}
	reftest.Fails(t, reftest.Err(certificate.Measure(context.Background(), file, lawstest.AllMask(file), nil, certificate.Config{Runs: 1})), "", "no sampler is taken")
}
