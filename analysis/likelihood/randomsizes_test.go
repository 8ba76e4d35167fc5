package likelihood_test

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/theory"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// cutAll calls visit with every way to cut d positions into groups of the sizes of random-sizes,
// and its probability. Groups are bit sets.
func cutAll(t *testing.T, s *catalog.Sampler, d int, visit func(groups []int, p float64)) {
	t.Helper()
	for sizes, p := range s.Law().(samplers.BySizes).Random(d) {
		var cut func(groups []int, seen int, p float64)
		cut = func(groups []int, seen int, p float64) {
			if len(groups) == len(sizes) {
				visit(groups, p)
				return
			}
			n := sizes[len(groups)]
			ways := binomial(d-bits.OnesCount(uint(seen)), n)
			for g := range 1 << d {
				if g&seen == 0 && bits.OnesCount(uint(g)) == n {
					cut(append(slices.Clone(groups), g), seen|g, p/ways)
				}
			}
		}
		cut(nil, 0, p)
	}
}

func binomial(n, k int) float64 {
	out := 1.0
	for i := range k {
		out *= float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}

// chance returns the probability of a text if the groups are revealed one after another.
func chance(w *world.World, text, groups []int, lambda func(masked int) float64) float64 {
	f := w.Facts()
	canvas, masked, q := slices.Repeat([]int{f.MaskID}, f.Length), f.Length, 1.0
	for _, g := range groups {
		state := w.State(canvas)
		at := lambda(masked)
		for l := range f.Length {
			if g>>l&1 == 1 {
				row := make([]float64, f.Columns)
				lawstest.Mu(w, row, state, l, at)
				q *= row[text[l]]
				canvas[l], masked = text[l], masked-1
			}
		}
	}
	return q
}

// randomSizes returns samplers of all kinds for worlds of three and four positions.
func randomSizes(t *testing.T) (out []*catalog.Sampler) {
	t.Helper()
	for _, correlation := range []string{"total", "dual"} {
		for _, steps := range []int{1, 2, 3, 4} {
			s := reftest.Must(catalog.New(catalog.Options{Sampler: "random-sizes", Steps: steps, PlanOptions: catalog.PlanOptions{Correlation: correlation}}, samplers.Spec{}))(t)
			out = append(out, s)
		}
	}
	return out
}

// TestRandomSizes checks on every network that the likelihood is the mean over all sizes and sets
// of the product of rows, and that the mean of one-plan bounds is the mean of −log.
func TestRandomSizes(t *testing.T) {
	t.Parallel()
	for name, w := range worlds(t) {
		f := w.Facts()
		d, e := f.Length, evaluator(t, w)
		lambda := func(masked int) float64 { return float64(masked) / float64(d+1) }
		for _, s := range randomSizes(t) {
			for index := range int(math.Pow(float64(f.Columns), float64(d))) {
				text := sequence(index, d, f.Columns)
				var want, bound, squares float64
				cutAll(t, s, d, func(groups []int, p float64) {
					q := chance(w, text, groups, lambda)
					want += p * q
					bound -= p * math.Log(q)
					squares += p * math.Log(q) * math.Log(q)
				})
				got := reftest.Must(e.Exact(context.Background(), likelihood.Whole(text), s))(t)
				if p := math.Exp(-got.NegLog); math.Abs(p-want) > 1e-12 {
					t.Errorf("%s, %v, text %v: %v, want %v", name, s, text, p, want)
				}
				if index > 0 || math.IsInf(bound, 1) {
					continue
				}
				const plans = 400
				target := likelihood.Whole(text)
				costs := reftest.Must(e.PathCosts(context.Background(), &target, s, plans, draw.NewStream(3, 4)))(t)
				var mean float64
				for _, c := range costs {
					mean += c / plans
				}
				if se := math.Sqrt(max(squares-bound*bound, 0) / plans); math.Abs(mean-bound) > 5*se+1e-9 {
					t.Errorf("%s, %v, text %v: plans cost %v, want %v ± %v", name, s, text, mean, bound, se)
				}
			}
		}
	}
}

// dependence describes the dependence among the tokens of a distribution, in nats.
type dependence struct {
	texts [][]int
	p     []float64
	// tc and dtc are the total and the dual total correlation; falls [m] is H_{m−1} − H_m, H_j the
	// mean entropy of a token given j others.
	tc, dtc float64
	falls   []float64
}

// dependenceOf enumerates a world whose rows are the conditionals of one distribution.
func dependenceOf(w *world.World) (out dependence) {
	f := w.Facts()
	d, all := f.Length, 1<<f.Length-1
	one := make([]int, d)
	for l := range one {
		one[l] = 1 << l
	}
	for index := range int(math.Pow(float64(f.Columns), float64(d))) {
		text := sequence(index, d, f.Columns)
		out.texts, out.p = append(out.texts, text), append(out.p, chance(w, text, one, constantly))
	}
	entropy := func(set int) (sum float64) {
		marginal := make(map[string]float64)
		for i, text := range out.texts {
			key := make([]byte, d)
			for l := range d {
				if set>>l&1 == 1 {
					key[l] = byte(1 + text[l])
				}
			}
			marginal[string(key)] += out.p[i]
		}
		for _, q := range marginal {
			if q > 0 {
				sum -= q * math.Log(q)
			}
		}
		return sum
	}
	given := make([]float64, d)
	out.tc, out.dtc = -entropy(all), entropy(all)
	for l := range d {
		out.tc += entropy(1 << l)
		out.dtc -= entropy(all) - entropy(all&^(1<<l))
		for set := range all {
			if j := bits.OnesCount(uint(set)); set>>l&1 == 0 {
				given[j] += (entropy(set|1<<l) - entropy(set)) / (binomial(d, j) * float64(d-j))
			}
		}
	}
	out.falls = make([]float64, d)
	for m := 1; m < d; m++ {
		out.falls[m] = given[m-1] - given[m]
	}
	return out
}

func constantly(int) float64 { return 0 }

// TestRandomSizesBound checks on worlds whose rows are the conditionals of one distribution that KL
// over plans is Σ_m Δ_m·E R_m, at most ρ·TC or ρ·DTC, and that KL of the texts does not exceed it.
func TestRandomSizesBound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"markov3-exact", "nested3-exact", "pairs4-exact", "parity4-exact"} {
		t.Run(name, func(t *testing.T) {
			w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
			of, d := dependenceOf(w), w.Facts().Length
			var byTC, byDTC float64
			for m, fall := range of.falls {
				byTC, byDTC = byTC+fall*float64(d-m), byDTC+fall*float64(m)
			}
			if math.Abs(of.tc-byTC) > 1e-12 || math.Abs(of.dtc-byDTC) > 1e-12 {
				t.Errorf("TC %v and %v, DTC %v and %v", of.tc, byTC, of.dtc, byDTC)
			}
			for _, s := range randomSizes(t) {
				law := make([]float64, len(of.texts))
				var plans, texts, terms float64
				cutAll(t, s, d, func(groups []int, weight float64) {
					for i, text := range of.texts {
						q := chance(w, text, groups, constantly)
						if law[i] += weight * q; of.p[i] > 0 {
							plans += weight * of.p[i] * math.Log(of.p[i]/q)
						}
					}
				})
				for i, p := range of.p {
					if p > 0 {
						texts += p * math.Log(p/law[i])
					}
				}
				for m, wait := range theory.MeanWaits(s.Law().(samplers.BySizes).Random(d), d) {
					terms += of.falls[m] * wait
				}
				// N groups are the greatest number for a grid of this step.
				limit, n := of.tc, float64(s.Settings().Steps-1)
				if h := (math.Log(float64(d)) + 1) / n; n > 0 {
					limit *= 1 + math.Expm1(-h)/h
				}
				if s.Settings().Correlation == "dual" {
					limit = of.dtc * float64(d-1)
					if h := math.Log(float64(d)) / n; n > 0 {
						limit = of.dtc * (math.Expm1(h)/h - 1)
					}
				}
				if math.Abs(plans-terms) > 1e-12 || plans > limit+1e-12 || texts > plans+1e-12 {
					t.Errorf("%v, %s: KL over plans %v, want %v, at most %v; of texts %v", s, s.Settings().Correlation, plans, terms, limit, texts)
				}
				t.Logf("%v, %s: TC %.4f, DTC %.4f, at most %.4f, over plans %.4f, of texts %.4f", s, s.Settings().Correlation, of.tc, of.dtc, limit, plans, texts)
			}
		})
	}
}
