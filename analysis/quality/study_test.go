package quality_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

func openWorld(t testing.TB, name string) (*world.World, *laws.World, *likelihood.Evaluator) {
	t.Helper()
	w, theory := lawstest.Open(t, name)
	return w, theory, reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
}

func newSampler(t testing.TB, o catalog.Options, w *world.World) *catalog.Sampler {
	t.Helper()
	return reftest.Must(catalog.New(o, samplers.Spec{Noise: w.Facts().Noise, TimeConditioned: w.Facts().TimeConditioned, InfiniteSigma: true}))(t)
}

func measured(t *testing.T, e *likelihood.Evaluator, target likelihood.Target, ss []*catalog.Sampler, cfg quality.Config) *quality.Study {
	t.Helper()
	return reftest.Must(quality.Measure(t.Context(), e, target, ss, cfg))(t)
}

func blank(d int) likelihood.Target { return likelihood.Whole(make([]int, d)) }

// above returns Σ (p−q)_+, which is TV if only q may leave masks.
func above(p, q []float64) (sum float64) {
	for i := range p {
		sum += max(0, p[i]-q[i])
	}
	return sum
}

func near(t *testing.T, name string, got estimate.Estimate, want float64) {
	t.Helper()
	if math.IsInf(want, 1) && math.IsInf(got.Mean, 1) {
		return
	}
	// 4.5 standard errors, since a file has about a hundred values.
	if !(math.Abs(got.Mean-want) <= 4.5*got.SE+1e-9) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// TestCoverage repeats a study: 95 % intervals of 400 repetitions cover at least 361 times with
// probability 0.999. The mean of
// every estimate over the repetitions is the exact value within four standard errors. The samples
// are constructed from the laws of texts, which are computed once.
func TestCoverage(t *testing.T) {
	reftest.Long(t)
	const repeats, samples = 400, 150
	for _, name := range []string{"xor3-mixed", "markov3-exact"} {
		w, theory, e := openWorld(t, name)
		ss := []*catalog.Sampler{
			newSampler(t, catalog.Options{}, w),
			newSampler(t, catalog.Options{Sampler: "tweedie", Steps: 6, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, w),
			newSampler(t, catalog.Options{Sampler: "euler", Steps: 8, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(5)), Delta: new(catalog.Theta(0.1)), Finish: "leave", Noise: "exp"}}, w),
			newSampler(t, catalog.Options{Sampler: "tweedie", Steps: 64, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, w),
		}
		var all [][]float64
		for _, s := range ss {
			all = append(all, sequenceLaw(t, theory, s))
		}
		texts, _, err := e.Sample(t.Context(), blank(3), ss[0], 1, 0, repeats*samples)
		reftest.OK(t, err)
		var studies []*quality.Study
		for texts := range slices.Chunk(texts, samples) {
			var done []quality.Sample
			for i, ids := range texts {
				x := 0
				for _, id := range ids {
					x = x*w.Facts().Columns + id
				}
				s := quality.Sample{Index: uint64(i), Tokens: ids, FHS: -math.Log(all[0][x])}
				for _, law := range all[1:] {
					s.NegLog = append(s.NegLog, estimate.Number(-math.Log(law[x])))
				}
				done = append(done, s)
			}
			st := *measured(t, e, blank(3), ss[1:], quality.Config{Samples: 1})
			st.Samples = done
			studies = append(studies, &st)
		}
		for i, law := range all[1:] {
			for _, what := range quality.Distances {
				want := laws.KL(all[0], law)
				if what.Name == quality.TV.Name {
					want = above(all[0], law)
				}
				covered, means := 0, []float64{}
				for _, st := range studies {
					x := st.Distance(what, i)
					if x.Lo <= want && want <= x.Hi {
						covered++
					}
					means = append(means, x.Mean)
				}
				if covered < 361 {
					t.Errorf("%s, sampler %d: %s: %d of %d intervals cover", name, i, what.Name, covered, repeats)
				}
				if m := estimate.Mean(means, 0); math.Abs(m.Mean-want) > 4*m.SE {
					t.Errorf("%s, sampler %d: %s: mean %v over repetitions, want %v", name, i, what.Name, m, want)
				}
			}
		}
	}
}

// sequenceLaw returns a sampler's law over all clean sequences of a small world.
func sequenceLaw(t *testing.T, w *laws.World, s *catalog.Sampler) []float64 {
	t.Helper()
	return w.OnSequences(reftest.Must(w.SamplerLaw(s))(t))
}

// TestPlanned measures planned samplers of all kinds on small worlds, and compares their exact
// distances with the collision bound.
func TestPlanned(t *testing.T) {
	reftest.Long(t)
	for _, name := range []string{"xor3-mixed", "markov3-exact"} {
		w, theory, e := openWorld(t, name)
		var ss []*catalog.Sampler
		for _, o := range []catalog.Options{
			{Sampler: "tweedie", Steps: 6, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "euler", Steps: 8, PlanOptions: catalog.PlanOptions{Grid: "paper", T: new(catalog.Theta(5)), Delta: new(catalog.Theta(0.01)), Noise: "exp", Finish: "leave"}},
			{Sampler: "tau-leaping", Steps: 5, PlanOptions: catalog.PlanOptions{Tau: "one"}}, {Sampler: "uniformization", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, {Sampler: "matu", Steps: 4, PlanOptions: catalog.PlanOptions{Delta: new(catalog.Theta(0.1))}}, {Sampler: "dmpm", Steps: 4}, {Sampler: "dmpm", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}},
			{Sampler: "parallel-fhs", Steps: 2}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,1,1"}},
			{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}, {Sampler: "random-sizes", Steps: 2}, {Sampler: "random-sizes", Steps: 3},
		} {
			ss = append(ss, newSampler(t, o, w))
		}
		st := measured(t, e, blank(3), ss, quality.Config{Samples: 500, Seed: 2})
		fhs := sequenceLaw(t, theory, newSampler(t, catalog.Options{}, w))
		for i, s := range ss {
			law := sequenceLaw(t, theory, s)
			tv, kl := above(fhs, law), laws.KL(fhs, law)
			label := fmt.Sprint(name, " ", s.Settings().Sampler, " ", i)
			near(t, label+": TV", st.Distance(quality.TV, i), tv)
			near(t, label+": KL", st.Distance(quality.KL, i), kl)
			for k, x := range []float64{tv, kl} {
				if b, ok := st.Bound(quality.Distances[k], i); ok && x > b+1e-9 {
					t.Errorf("%s: %s is %v, above the collision bound %v", label, quality.Distances[k].Name, x, b)
				}
			}
			if _, ok := st.Bound(quality.TV, i); !ok {
				t.Errorf("%s: no collision bound", label)
			}
		}
	}
}
