package likelihood_test

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// cutAll calls visit with every way to cut d positions into groups of the sizes of random-sizes, and its
// probability: groups are bit sets.
func cutAll(t *testing.T, s *catalog.Sampler, d int, visit func(groups []int, p float64)) {
	t.Helper()
	law, _ := s.Law()
	for sizes, p := range law.Mix(d) {
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

// binomial is n choose k.
func binomial(n, k int) float64 {
	out := 1.0
	for i := range k {
		out *= float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}

// chance is the probability of a text where the groups are revealed one after the other.
func chance(w *world.World, text, groups []int, lambda func(masked int) float64) float64 {
	f := w.Facts()
	canvas, masked, q := slices.Repeat([]int{f.MaskID}, f.Length), f.Length, 1.0
	for _, g := range groups {
		state := w.State(canvas)
		at := lambda(masked)
		for l := range f.Length {
			if g>>l&1 == 1 {
				row := make([]float64, f.Columns)
				w.Mu(row, state, l, at)
				q *= row[text[l]]
				canvas[l], masked = text[l], masked-1
			}
		}
	}
	return q
}

// randomSizes are samplers of all kinds for worlds of three and four positions.
func randomSizes(t *testing.T) (out []*catalog.Sampler) {
	t.Helper()
	for _, correlation := range []string{"total", "dual"} {
		for _, steps := range []int{1, 2, 3, 4} {
			s, err := catalog.New(catalog.Options{Sampler: "random-sizes", Steps: steps, Correlation: correlation}, samplers.Spec{})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
	}
	return out
}

// TestRandomSizes: the likelihood is the mean over all sizes and sets of the product of rows, whatever the
// network, and the mean of bounds of one plan that of −log.
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
				got, err := e.Exact(context.Background(), likelihood.Whole(text), s)
				if err != nil {
					t.Fatal(err)
				}
				if p := math.Exp(-got.NegLog); math.Abs(p-want) > 1e-12 {
					t.Errorf("%s, %v, text %v: %v, want %v", name, s, text, p, want)
				}
				if index > 0 || math.IsInf(bound, 1) {
					continue
				}
				const plans = 400
				target := likelihood.Whole(text)
				costs, err := e.PathCosts(context.Background(), &target, s, plans, draw.NewStream(3, 4))
				if err != nil {
					t.Fatal(err)
				}
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

// TestRandomSizesBound: on worlds whose rows are the conditionals of one distribution KL over plans is
// Σ_m Δ_m·E R_m, at most ρ·TC, or ρ·DTC, and KL of the texts is no more than it.
func TestRandomSizesBound(t *testing.T) {
	t.Parallel()
	for name, w := range worlds(t) {
		if !strings.Contains(name, "exact") {
			continue
		}
		f := w.Facts()
		d := f.Length
		zero := func(int) float64 { return 0 }
		var texts [][]int
		var p []float64
		for index := range int(math.Pow(float64(f.Columns), float64(d))) {
			text, one := sequence(index, d, f.Columns), make([]int, d)
			for l := range one {
				one[l] = 1 << l
			}
			texts, p = append(texts, text), append(p, chance(w, text, one, zero))
		}
		// joint is the entropy of a set of positions, by all texts.
		joint := func(set int) (sum float64) {
			marginal := make(map[string]float64)
			for i, text := range texts {
				key := make([]byte, d)
				for l := range d {
					if set>>l&1 == 1 {
						key[l] = byte(1 + text[l])
					}
				}
				marginal[string(key)] += p[i]
			}
			for _, q := range marginal {
				if q > 0 {
					sum -= q * math.Log(q)
				}
			}
			return sum
		}
		all := 1<<d - 1
		// entropy [j] is that of a token given j others, mean over both.
		entropy := make([]float64, d)
		tc, dtc := -joint(all), joint(all)
		for set := range all {
			for l := range d {
				if set>>l&1 == 0 {
					j := bits.OnesCount(uint(set))
					entropy[j] += (joint(set|1<<l) - joint(set)) / (binomial(d, j) * float64(d-j))
				}
			}
		}
		for l := range d {
			tc += joint(1 << l)
			dtc -= joint(all) - joint(all&^(1<<l))
		}
		var byTC, byDTC float64
		for m := 1; m < d; m++ {
			byTC += (entropy[m-1] - entropy[m]) * float64(d-m)
			byDTC += (entropy[m-1] - entropy[m]) * float64(m)
		}
		if math.Abs(tc-byTC) > 1e-12 || math.Abs(dtc-byDTC) > 1e-12 {
			t.Errorf("%s: TC %v and %v, DTC %v and %v", name, tc, byTC, dtc, byDTC)
		}
		for _, s := range randomSizes(t) {
			law := make([]float64, len(texts))
			kl := 0.0
			cutAll(t, s, d, func(groups []int, weight float64) {
				for i, text := range texts {
					q := chance(w, text, groups, zero)
					if law[i] += weight * q; p[i] > 0 {
						kl += weight * p[i] * math.Log(p[i]/q)
					}
				}
			})
			ofTexts, terms := 0.0, 0.0
			for i := range texts {
				if p[i] > 0 {
					ofTexts += p[i] * math.Log(p[i]/law[i])
				}
			}
			declared, _ := s.Law()
			rho := make([]float64, d)
			for sizes, weight := range declared.Mix(d) {
				end := 0
				for _, n := range sizes {
					for m := end + 1; m < end+n; m++ {
						rho[m] += weight * float64(end+n-m)
					}
					end += n
				}
			}
			worst := 0.0
			for m := 1; m < d; m++ {
				terms += (entropy[m-1] - entropy[m]) * rho[m]
				if s.Settings().Correlation == "dual" {
					worst = max(worst, rho[m]/float64(m))
				} else {
					worst = max(worst, rho[m]/float64(d-m))
				}
			}
			limit := worst * tc
			if s.Settings().Correlation == "dual" {
				limit = worst * dtc
			}
			if math.Abs(kl-terms) > 1e-12 || kl > limit+1e-12 || ofTexts > kl+1e-12 {
				t.Errorf("%s, %v: KL over plans %v, want %v, at most %v; of texts %v", name, s, kl, terms, limit, ofTexts)
			}
			t.Logf("%s, %s, %d groups: TC %.4f, DTC %.4f, rho %.4f, bound %.4f, over plans %.4f, of texts %.4f", name, s.Settings().Correlation, s.Settings().Steps, tc, dtc, worst, limit, kl, ofTexts)
		}
	}
}
