package quality_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// worldNames are the time-free reference worlds; the first two are in the module.
var worldNames = []string{"xor3-mixed", "markov3-exact", "dirichlet3-noisy", "markov4-sharp", "parity4-exact", "pairs4-exact"}

func openWorld(t testing.TB, name string) (*world.World, *likelihood.Evaluator) {
	t.Helper()
	w, _ := lawstest.Open(t, name)
	e, err := likelihood.New(w, likelihood.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w, e
}

func newSampler(t testing.TB, o catalog.Options, w *world.World) *catalog.Sampler {
	t.Helper()
	s, err := catalog.New(o, samplers.Spec{Noise: w.Facts().Noise, TimeConditioned: w.Facts().TimeConditioned, InfiniteSigma: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func measured(t *testing.T, e *likelihood.Evaluator, target likelihood.Target, ss []*catalog.Sampler, cfg quality.Config) *quality.Study {
	t.Helper()
	st, err := quality.Measure(t.Context(), e, target, ss, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func blank(d int) likelihood.Target { return likelihood.Whole(make([]int, d)) }

// ofFile is a sampler of a world file with its law over clean sequences.
type ofFile struct {
	name    string
	sampler *catalog.Sampler
	law     []float64
}

// fromFile makes the samplers of a world file whose law the file has, denoised and not.
func fromFile(t *testing.T, w *world.World, l *world.Laws) []ofFile {
	t.Helper()
	d, v := w.Facts().Length, w.Facts().Columns
	space := laws.NewSpace(d, v)
	var out []ofFile
	for _, law := range l.Laws {
		g, _ := l.Grid(law.Grid)
		if g.N < 4 || g.N > 16 {
			continue // few suffice
		}
		T, delta := float64(g.T), float64(g.Delta)
		o := catalog.Options{Grid: g.Kind, Steps: g.N, T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta), Noise: "exp"}
		switch law.Sampler {
		case "tau_leaping_one":
			o.Sampler, o.Tau = "tau-leaping", "one"
		case "tau_leaping_any":
			o.Sampler, o.Tau = "tau-leaping", "any"
		default:
			o.Sampler = law.Sampler
		}
		if g.Kind == "uniform_masked_fraction" {
			o.Grid = "lambda"
		}
		if o.Sampler == "tweedie" && o.Grid != "uniform" {
			o.Noise = ""
		}
		for _, finish := range []string{"denoise", "leave"} {
			o.Finish = finish
			s, err := catalog.New(o, samplers.Spec{InfiniteSigma: true})
			if err != nil {
				t.Fatal(law.Grid, law.Sampler, err)
			}
			clean := law.LawDenoised
			if finish == "leave" {
				clean = space.OnSequences(law.Law)
			}
			out = append(out, ofFile{fmt.Sprint(law.Sampler, " ", law.Grid, " ", finish), s, clean})
		}
	}
	return out
}

// above is Σ (p−q)_+: TV where q may leave masks and p does not.
func above(p, q []float64) (sum float64) {
	for i := range p {
		sum += max(0, p[i]-q[i])
	}
	return sum
}

// TestWorlds compares estimates with the distances of the laws in the world files.
func TestWorlds(t *testing.T) {
	for _, name := range worldNames {
		t.Run(name, func(t *testing.T) {
			w, e := openWorld(t, name)
			l, err := w.Laws()
			if err != nil {
				t.Fatal(err)
			}
			cases := fromFile(t, w, l)
			var ss []*catalog.Sampler
			for _, c := range cases {
				ss = append(ss, c.sampler)
			}
			st := measured(t, e, blank(w.Facts().Length), ss, quality.Config{Samples: 600, Seed: 3})
			for i, c := range cases {
				tv, kl := above(l.FHS.Law, c.law), laws.KL(l.FHS.Law, c.law)
				near(t, c.name+": TV", st.Distance(quality.TV, i), tv)
				near(t, c.name+": KL", st.Distance(quality.KL, i), kl)
				for what, x := range map[quality.Distance]float64{quality.TV: tv, quality.KL: kl} {
					if b, ok := st.Bound(what, i); ok && x > b+1e-12 {
						t.Errorf("%s: %s is %v, above the collision bound %v", c.name, what, x, b)
					}
				}
			}
		})
	}
}

func near(t *testing.T, name string, got estimate.Estimate, want float64) {
	t.Helper()
	if math.IsInf(want, 1) && math.IsInf(got.Mean, 1) {
		return
	}
	// 4.5 standard errors, since a file has about a hundred of them.
	if !(math.Abs(got.Mean-want) <= 4.5*got.SE+1e-9) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// TestCoverage repeats a study: 95 % intervals of 400 repetitions cover 361..398 times with
// probability 0.999, those of KL more often in most cases, since they allow for tails, and
// every estimate's mean over the repetitions is the exact value within four standard errors.
func TestCoverage(t *testing.T) {
	const repeats = 400
	for _, world := range []struct {
		name  string
		least map[quality.Distance]int
	}{
		{"xor3-mixed", map[quality.Distance]int{quality.TV: 361, quality.KL: 361}},
		{"markov3-exact", map[quality.Distance]int{quality.TV: 361, quality.KL: 361}},
	} {
		w, e := openWorld(t, world.name)
		ss := []*catalog.Sampler{
			newSampler(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 6}, w),
			newSampler(t, catalog.Options{Sampler: "euler", Steps: 8, T: (*catalog.Theta)(theta(5)), Delta: (*catalog.Theta)(theta(0.1)), Finish: "leave", Noise: "exp"}, w),
			newSampler(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 64}, w),
		}
		fhs := sequenceLaw(t, e, newSampler(t, catalog.Options{}, w))
		var studies []*quality.Study
		for seed := range uint64(repeats) {
			st := measured(t, e, blank(3), ss, quality.Config{Samples: 150, Seed: seed})
			studies = append(studies, st)
		}
		for i, s := range ss {
			law := sequenceLaw(t, e, s)
			for _, what := range []quality.Distance{quality.TV, quality.KL} {
				want := laws.KL(fhs, law)
				if what == quality.TV {
					want = above(fhs, law)
				}
				covered, means := 0, []float64{}
				for _, st := range studies {
					x := st.Distance(what, i)
					if x.Lo <= want && want <= x.Hi {
						covered++
					}
					means = append(means, x.Mean)
				}
				if covered < world.least[what] || what == quality.TV && covered > 398 {
					t.Errorf("%s, sampler %d: %s: %d of %d intervals cover", world.name, i, what, covered, repeats)
				}
				if m := estimate.Mean(means, 0); math.Abs(m.Mean-want) > 4*m.SE {
					t.Errorf("%s, sampler %d: %s: mean %v over repetitions, want %v", world.name, i, what, m, want)
				}
			}
		}
	}
}

func theta(x float64) *float64 { return &x }

// sequenceLaw is a sampler's law over all clean sequences of a small world.
func sequenceLaw(t *testing.T, e *likelihood.Evaluator, s *catalog.Sampler) []float64 {
	t.Helper()
	f := e.Facts()
	space := laws.NewSpace(f.Length, f.Columns)
	out := make([]float64, space.Sequences)
	for i := range out {
		ids := make([]int, f.Length)
		for l, rest := f.Length-1, i; l >= 0; l, rest = l-1, rest/f.Columns {
			ids[l] = rest % f.Columns
		}
		x, err := e.Exact(context.Background(), likelihood.Whole(ids), s)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = math.Exp(-x.NegLog)
	}
	return out
}

// TestTimed measures a time-conditioned world, whose first-hitting law is a quadrature.
func TestTimed(t *testing.T) {
	w, e := openWorld(t, "timed3")
	ss := []*catalog.Sampler{newSampler(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 6}, w)}
	st := measured(t, e, blank(3), ss, quality.Config{Samples: 1000, Seed: 1})
	l, err := w.Laws()
	if err != nil {
		t.Fatal(err)
	}
	law := sequenceLaw(t, e, ss[0])
	near(t, "TV", st.Distance(quality.TV, 0), above(l.FHS.Law, law))
	near(t, "KL", st.Distance(quality.KL, 0), laws.KL(l.FHS.Law, law))
	if _, ok := st.Bound(quality.TV, 0); ok {
		t.Error("a collision bound for a time-conditioned network")
	}
	if w := strings.Join(st.Distance(quality.TV, 0).Warnings, " "); !strings.Contains(w, "by quadrature") {
		t.Errorf("warnings %q", w)
	}
}

// TestPlanned measures the other planned samplers on small worlds, and holds their exact
// distances against the collision bound.
func TestPlanned(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "markov3-exact", "timed3"} {
		w, e := openWorld(t, name)
		var ss []*catalog.Sampler
		for _, o := range []catalog.Options{
			{Sampler: "uniformization", Steps: 4, Finish: "leave"}, {Sampler: "matu", Steps: 4, Delta: (*catalog.Theta)(theta(0.1))}, {Sampler: "dmpm", Steps: 4}, {Sampler: "dmpm", Steps: 4, Finish: "leave"},
			{Sampler: "trapezoidal", Steps: 1}, {Sampler: "trapezoidal", Steps: 8, Grid: "cosine"}, {Sampler: "trapezoidal", Steps: 8, Grid: "uniform", T: (*catalog.Theta)(theta(4)), Delta: (*catalog.Theta)(theta(0.05))},
			{Sampler: "paired-fhs", Sizes: "1,1,1"}, {Sampler: "paired-fhs", Steps: 2}, {Sampler: "parallel-fhs", Steps: 2},
			{Sampler: "ordered", Order: "random"},
		} {
			ss = append(ss, newSampler(t, o, w))
		}
		st := measured(t, e, blank(3), ss, quality.Config{Samples: 500, Seed: 2})
		fhs := sequenceLaw(t, e, newSampler(t, catalog.Options{}, w))
		for i, s := range ss {
			law := sequenceLaw(t, e, s)
			tv, kl := above(fhs, law), laws.KL(fhs, law)
			label := fmt.Sprint(name, " ", s.Settings().Sampler, " ", i)
			near(t, label+": TV", st.Distance(quality.TV, i), tv)
			near(t, label+": KL", st.Distance(quality.KL, i), kl)
			for what, x := range map[quality.Distance]float64{quality.TV: tv, quality.KL: kl} {
				if b, ok := st.Bound(what, i); ok && x > b+1e-9 {
					t.Errorf("%s: %s is %v, above the collision bound %v", label, what, x, b)
				}
			}
			if _, ok := st.Bound(quality.TV, i); ok != (name != "timed3") {
				t.Errorf("%s: a collision bound is %t", label, ok)
			}
		}
	}
}
