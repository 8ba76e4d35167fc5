package match_test

import (
	"math"
	"regexp"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
)

// pattern describes texts of the letters a, b and c, which are the tokens of the worlds of these tests.
const pattern = `(a|b)*c|ab.|c+`

var matching = regexp.MustCompile(`\A(?:` + pattern + `)\z`)

func letters() *match.Vocabulary {
	return match.NewVocabulary([][]byte{[]byte("a"), []byte("b"), []byte("c")}, -1)
}

// matches reports whether some completion of a state matches.
func matches(w *laws.World, state int) bool {
	text := ""
	for l := range w.D {
		if w.Token(state, l) == w.V {
			return slices.ContainsFunc([]int{0, 1, 2}, func(a int) bool { return matches(w, w.Reveal(state, l, a)) })
		}
		text += string(rune('a' + w.Token(state, l)))
	}
	return matching.MatchString(text)
}

// revealed returns the law of groups of the given sizes, of uniform positions, each drawn from the
// product of its rows restricted to what is possible.
func revealed(w *laws.World, sizes []int, possible func(state int) bool) []float64 {
	return lawstest.Outcomes(w.States, func(pick func([]float64) int) int {
		state := w.AllMask()
		for _, size := range sizes {
			var free []int
			w.EachMasked(state, func(l int) { free = append(free, l) })
			groups := combin.Combinations(len(free), size)
			nexts, weights := []int{state}, []float64{1}
			for _, i := range groups[pick(slices.Repeat([]float64{1 / float64(len(groups))}, len(groups)))] {
				before, q := nexts, weights
				nexts, weights = nil, nil
				for k, next := range before {
					for a, mu := range w.Row(w.Rows(0), state, free[i]) {
						nexts, weights = append(nexts, w.Reveal(next, free[i], a)), append(weights, q[k]*mu)
					}
				}
			}
			for k, next := range nexts {
				if !possible(next) {
					weights[k] = 0
				}
			}
			floats.Scale(1/floats.Sum(weights), weights)
			state = nexts[pick(weights)]
		}
		return state
	})
}

// conditioned returns the law of groups conditioned on a match, and the probability of that.
func conditioned(w *laws.World, sizes []int) (law []float64, total float64) {
	law = revealed(w, sizes, func(int) bool { return true })
	for state := range law {
		if law[state] > 0 && !matches(w, state) {
			law[state] = 0
		}
	}
	total = floats.Sum(law)
	floats.Scale(1/total, law)
	return law, total
}

// TestWorldLaw compares samples on a world with the enumerated law of restricted reveals. The distance of
// that law to the sampler's law conditioned on a match is positive except for one group of all positions.
func TestWorldLaw(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	net, w := lawstest.Open(t, "markov3-exact")
	spec := net.Spec()
	language := reftest.Must(letters().Language(t.Context(), pattern))(t)
	for _, c := range []struct {
		name  string
		o     catalog.Options
		sizes []int
		apart float64 // the value in docs/howto/match.md
	}{
		{"one by one", catalog.Options{}, []int{1, 1, 1}, 0.4768}, {"two, then one", catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,1"}}, []int{2, 1}, 0.1625},
		{"all at once", catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3"}}, []int{3}, 0}, {"looking ahead", catalog.Options{Lookahead: 3}, []int{1, 1, 1}, 0.4768},
	} {
		restricted := revealed(w, c.sizes, func(state int) bool { return matches(w, state) })
		law, total := conditioned(w, c.sizes)
		tv := laws.TV(law, restricted)
		t.Logf("%s: TV to the conditioned law %.4f, which has %.4f of the sampler's", c.name, tv, total)
		if math.Abs(tv-c.apart) > 1e-4 {
			t.Errorf("%s: TV to the conditioned law is %v", c.name, tv)
		}
		c.o.Match = []match.Rule{{Language: language}}
		s := reftest.Must(catalog.New(c.o, spec))(t)
		if !s.Settings().ChangesLaw || s.Planned() {
			t.Errorf("%s: %+v", c.name, s.Settings())
		}
		counts := make([]int, w.States)
		_, err := samplers.Sample(t.Context(), net, samplers.Copies(slices.Repeat([]int{spec.Mask}, 3), 0, 5000), samplers.Config{Method: s, Seed: 3, Batch: 64}, func(r samplers.Result) error {
			state := net.State(r.IDs)
			counts[state]++
			if len(c.sizes) == 1 && math.Abs(r.LogP-math.Log(restricted[state])) > 1e-9 {
				t.Errorf("log p of %v is %v, want %v", r.IDs, r.LogP, math.Log(restricted[state]))
			}
			return nil
		})
		reftest.OK(t, err)
		if p := reftest.Goodness(counts, restricted); p < 1e-4 {
			t.Errorf("%s: p = %v", c.name, p)
		}
	}
}

// TestConfidenceLaw compares samples of confidence, at a temperature and truncated, with the enumerated
// law: a call draws all masks from the product of the settings' rows restricted to matches, and keeps the
// token of greatest probability under the same product of the network's own rows.
func TestConfidenceLaw(t *testing.T) {
	t.Parallel()
	net, w := lawstest.Open(t, "markov3-exact")
	spec := net.Spec()
	language := reftest.Must(letters().Language(t.Context(), pattern))(t)
	possible := make([]bool, w.States)
	for state := range possible {
		possible[state] = matches(w, state)
	}
	for _, how := range []draw.Settings{{Temperature: new(3.0)}, {Temperature: new(0.2)}, {TopK: 2}} {
		categorical := reftest.Must(draw.NewCategorical(spec.Vocabulary, how))(t)
		law := lawstest.Outcomes(w.States, func(pick func([]float64) int) int {
			state := w.AllMask()
			for range w.D {
				var free []int
				w.EachMasked(state, func(l int) { free = append(free, l) })
				texts, drawn, own := []int{state}, []float64{1}, []float64{1}
				for _, l := range free {
					var to []int
					var p, q []float64
					row := w.Row(w.Rows(0), state, l)
					for k, text := range texts {
						kept := make([]float64, w.V)
						for a, mu := range row {
							if kept[a] = math.Log(mu); !possible[w.Reveal(state, l, a)] {
								kept[a] = math.Inf(-1)
							}
						}
						reftest.OK(t, categorical.Probabilities(kept, draw.Double(slices.Clone(kept))))
						for a, mu := range row {
							to, p, q = append(to, w.Reveal(text, l, a)), append(p, drawn[k]*kept[a]), append(q, own[k]*mu)
						}
					}
					texts, drawn, own = to, p, q
				}
				for k, text := range texts {
					if !possible[text] {
						drawn[k], own[k] = 0, 0
					}
				}
				floats.Scale(1/floats.Sum(drawn), drawn)
				floats.Scale(1/floats.Sum(own), own)
				text := texts[pick(drawn)]
				best, most := 0, -1.0
				for _, l := range free {
					sure := 0.0
					for k := range texts {
						if w.Token(texts[k], l) == w.Token(text, l) {
							sure += own[k]
						}
					}
					if sure > most+1e-12 {
						best, most = l, sure
					}
				}
				state = w.Reveal(state, best, w.Token(text, best))
			}
			return state
		})
		s := reftest.Must(catalog.New(catalog.Options{Sampler: "confidence", Steps: 3, Draw: how, Match: []match.Rule{{Language: language}}}, spec))(t)
		counts := make([]int, w.States)
		_, err := samplers.Sample(t.Context(), net, samplers.Copies(slices.Repeat([]int{spec.Mask}, 3), 0, 2000), samplers.Config{Method: s, Seed: 3, Batch: 64}, func(r samplers.Result) error {
			counts[net.State(r.IDs)]++
			return nil
		})
		reftest.OK(t, err)
		if p := reftest.Goodness(counts, law); p < 1e-4 {
			t.Errorf("%+v: p = %v", how, p)
		}
	}
}

// TestNotWith checks that options that cannot be combined with a pattern are rejected by name, and
// so are canvases without a text.
func TestNotWith(t *testing.T) {
	t.Parallel()
	v := match.NewVocabulary([][]byte{[]byte("a"), []byte("bc")}, -1)
	spec := samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 2, Mask: 2}}
	rules := []match.Rule{{Language: reftest.Must(v.Language(t.Context(), `a*|a{9}bc`))(t)}}
	for want, o := range map[string]catalog.Options{
		"p2": {Sampler: "p2"}, "wino": {Sampler: "wino"}, "stop": {LayerOptions: catalog.LayerOptions{BlockLength: 2, Stop: new(int)}}, "a mask": {Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Finish: "leave"}},
		"banned words": {LayerOptions: catalog.LayerOptions{BadWordsIDs: "1"}},
	} {
		o.Match = rules
		_, err := catalog.New(o, spec)
		reftest.Fails(t, err, want)
	}
	for _, c := range []struct {
		pattern, want string
		canvas        []int
	}{{`bc`, "matches no text of 3 tokens", []int{2, 2, 2}}, {`(bc){4}`, "needs at least 4 tokens", []int{2, 2, 2}}, {`a*`, "matches no text of 3 tokens that keeps the given tokens", []int{2, 1, 2}}} {
		s := reftest.Must(catalog.New(catalog.Options{Match: []match.Rule{{Language: reftest.Must(v.Language(t.Context(), c.pattern))(t)}}}, spec))(t)
		reftest.Fails(t, s.Check(spec, c.canvas), c.want)
	}
}
