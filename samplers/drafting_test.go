package samplers_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// winoLaw adds the law of WINO from a canvas on, by its definition, if the previous call revealed
// the given number of positions. It returns the expected number of calls.
func winoLaw(w *world.World, canvas []int, revealed int, threshold, back, p float64, law []float64) (calls float64) {
	mask := w.Facts().MaskID
	if slices.Index(canvas, mask) < 0 || p == 0 {
		law[w.State(canvas)] += p
		return 0
	}
	// sure returns the probability of a token at a position given all others.
	sure := func(l, token int) float64 {
		given, row := slices.Clone(canvas), make([]float64, w.Facts().Columns)
		given[l] = mask
		w.Mu(row, w.State(given), l, 0)
		return row[token]
	}
	type place struct {
		l, token int
		sure     float64
	}
	compare := func(a, b place) int { return cmp.Compare(math.Round(a.sure*0x1p40), math.Round(b.sure*0x1p40)) }
	var stands []place
	var masked []int
	for l, id := range canvas {
		if id == mask {
			masked = append(masked, l)
		} else if x := (place{l, id, sure(l, id)}); x.sure < back {
			stands = append(stands, x)
		}
	}
	slices.SortFunc(stands, func(a, b place) int { return cmp.Or(compare(a, b), a.l-b.l) })
	var each func(drawn []place, p float64)
	each = func(drawn []place, p float64) {
		if n := len(drawn); n < len(masked) {
			for a := range w.Facts().Columns {
				if q := sure(masked[n], a); a != mask && q > 0 {
					each(append(slices.Clone(drawn), place{masked[n], a, q}), p*q)
				}
			}
			return
		}
		slices.SortFunc(drawn, func(a, b place) int { return cmp.Or(compare(b, a), a.l-b.l) })
		next, n := slices.Clone(canvas), 0
		for i, x := range drawn {
			if i == 0 || x.sure > threshold && n < 5 {
				next[x.l] = x.token
				n++
			}
		}
		for i, x := range stands {
			if n > 1 && i < revealed-1 {
				next[x.l] = mask
			}
		}
		calls += winoLaw(w, next, n, threshold, back, p, law)
	}
	each(nil, p)
	return calls + p
}

// TestDrafting checks that samples of wino, and its enumerated outcomes, have the law of its
// definition.
func TestDrafting(t *testing.T) {
	t.Parallel()
	again := 0
	for _, name := range []string{"markov4-sharp", "xor3-mixed", "markov3-exact"} {
		w := openWorld(t, slices.Index(worldNames, name))
		for _, test := range []struct{ threshold, back float64 }{{0.3, 0.6}, {0.1, 0.5}, {0.6, 0.9}} {
			s := newSampler(t, w, catalog.Options{Sampler: "wino", RankOptions: catalog.RankOptions{Threshold: test.threshold}, RemaskOptions: catalog.RemaskOptions{ThresholdBack: test.back}})
			law := make([]float64, len(sampleMany(t, w, nil, 0, 0).states))
			want := winoLaw(w, allMask(w), 30, test.threshold, test.back, 1, law)
			outcomes, calls, err := s.Outcomes(t.Context(), w, allMask(w), 1e6)
			if err != nil || math.Abs(calls-want) > 1e-9 {
				t.Fatalf("%s: %v calls, want %v, %v", s, calls, want, err)
			}
			outcomesFit(t, w, outcomes, law, name, test)
			cfg := config(w, s, 7)
			cfg.OnStep = func(s samplers.Step) { again += len(s.Masked) }
			fits(t, sampleFrom(t, w, w, allMask(w), cfg, fewerDraws).states, law, familyLevel/9, name, test)
		}
	}
	if again == 0 {
		t.Error("nothing was ever masked again: the test shows nothing")
	}
}

// TestDraftingCache checks that wino and look-ahead, which query other canvases than the
// sequence's, are rejected with a cache, whose keys and values are of the sequence's canvas.
// Options that were not set are not named.
func TestDraftingCache(t *testing.T) {
	const others = " also queries other canvases: "
	for _, c := range []struct {
		o    catalog.Options
		spec samplers.Spec
		want string
	}{
		{catalog.Options{Sampler: "wino", Cache: "dual"}, samplers.Spec{}, "cache dual: wino" + others + "choose another sampler"},
		{catalog.Options{Sampler: "wino"}, samplers.Spec{BlockSize: 4}, "a block-causal network keeps finished blocks: wino" + others + "choose another sampler"},
		{catalog.Options{Sampler: "threshold", Lookahead: 2, Draw: draw.Settings{Temperature: new(0.0)}}, samplers.Spec{BlockSize: 4},
			"a block-causal network keeps finished blocks: threshold" + others + "leave lookahead out"},
	} {
		c.o.BlockLength = 4
		if _, err := catalog.New(c.o, c.spec); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s, blocks of %d: error %v, want %s", c.o.Sampler, c.spec.BlockSize, err, c.want)
		}
	}
}

// TestDraftingInCompany checks that a sample is the same in any batch, in blocks, with guidance and
// with rules, and takes at most one call per position.
func TestDraftingInCompany(t *testing.T) {
	shaped := catalog.LayerOptions{BadWordsIDs: "1 2,3 3,5", MinLength: 9}
	for _, o := range []catalog.Options{{}, {Draw: draw.Settings{Temperature: new(0.0)}}, {Draw: draw.Settings{TopK: 2, SuppressTokens: "1"}}, {RankOptions: catalog.RankOptions{BlockLength: 3}},
		{LayerOptions: shaped, RankOptions: catalog.RankOptions{Guidance: 0.5, Stop: new(0)}}} {
		o.Sampler, o.Threshold, o.ThresholdBack = "wino", 0.3, 0.5
		net := newAnyNet()
		s := mustNew(t, o)
		cfg := net.config(s, 1)
		want, _ := collect(t, net, slices.Values(mixed()), cfg)
		for _, seq := range mixed() {
			r := want[seq.Index]
			if most := s.MostCalls(net.Spec(), seq.Canvas); o.BadWordsIDs == "" && (r.Left > 0 || r.Calls > most) {
				t.Errorf("%+v: %+v, at most %d calls", o, r, most)
			}
		}
		if got, _ := collect(t, net, slices.Values(mixed()), net.config(s, 5)); !sameIDs(got, want) {
			t.Errorf("%+v: other samples in batches", o)
		}
	}
}
