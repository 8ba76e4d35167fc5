package samplers_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
)

// klassRule is KLASS on one block after another, by its definition, at temperature 1.
type klassRule struct {
	w                     *world.World
	block, steps, history int
	threshold, divergence float64
}

// law adds the law from a canvas on. call counts the calls about the block, stable holds for each
// position the number of calls for which it was stable, and before is the canvas of the previous call.
func (k klassRule) law(canvas, before, stable []int, call int, p float64, out []float64) {
	mask, d := k.w.Facts().MaskID, len(canvas)
	from := slices.Index(canvas, mask)
	if from < 0 || p == 0 {
		out[k.w.State(canvas)] += p
		return
	}
	from = from / k.block * k.block
	var asked []int
	for l := from; l < from+k.block; l++ {
		if canvas[l] == mask {
			asked = append(asked, l)
		}
	}
	rows := make([][]float64, d)
	now := slices.Clone(stable)
	for l := range canvas {
		if canvas[l] != mask {
			continue
		}
		rows[l] = make([]float64, k.w.Facts().Columns)
		k.w.Mu(rows[l], k.w.State(canvas), l, 0)
		now[l] = 0
		if before != nil {
			was := make([]float64, len(rows[l]))
			k.w.Mu(was, k.w.State(before), l, 0)
			var kl float64
			for a, x := range rows[l] {
				if x > 0 {
					kl += x * math.Log(x/was[a])
				}
			}
			if kl < k.divergence {
				now[l] = stable[l] + 1
			}
		}
	}
	tokens := make([]int, len(asked))
	var draw func(i int, p float64)
	draw = func(i int, p float64) {
		if i < len(asked) {
			for a, x := range rows[asked[i]] {
				if tokens[i] = a; x > 0 {
					draw(i+1, p*x)
				}
			}
			return
		}
		next, ready, best := slices.Clone(canvas), false, 0
		score := func(i int) float64 { return math.Round(rows[asked[i]][tokens[i]] * 0x1p40) }
		for i, l := range asked {
			if rows[l][tokens[i]] > k.threshold && now[l] >= k.history && call+1 >= k.history {
				next[l], ready = tokens[i], true
			}
			if score(i) > score(best) {
				best = i
			}
		}
		if !ready { // one per call: as many steps as positions
			next[asked[best]] = tokens[best]
		}
		filled := slices.Index(next[from:from+k.block], mask) < 0
		calls := call + 1
		if filled {
			calls = 0
		}
		k.law(next, canvas, now, calls, p, out)
	}
	draw(0, p)
}

// TestStable checks that samples of klass, and its enumerated outcomes, have the law of its
// definition.
func TestStable(t *testing.T) {
	t.Parallel()
	saved := 0.0
	for _, name := range []string{"markov4-sharp", "xor3-mixed", "markov3-exact"} {
		w := openWorld(t, slices.Index(worldNames, name))
		d := w.Facts().Length
		rules := []klassRule{{w, d, d, 1, 0.3, 0.2}, {w, d, d, 2, 0.1, 0.5}}
		if d%2 == 0 {
			rules = append(rules, klassRule{w, 2, d, 1, 0.3, 0.3}, klassRule{w, 2, d, 2, 0.05, 0.6})
		}
		for _, rule := range rules {
			o := catalog.Options{Sampler: "klass", Steps: d, RankOptions: catalog.RankOptions{Threshold: rule.threshold, KLThreshold: rule.divergence, History: rule.history}}
			if rule.block < d {
				o.BlockLength = rule.block
			}
			s := newSampler(t, w, o)
			law := make([]float64, len(sampleMany(t, w, nil, 0, 0).states))
			rule.law(allMask(w), nil, make([]int, d), 0, 1, law)
			outcomes, calls, err := s.Outcomes(t.Context(), w, allMask(w), 1e6)
			reftest.OK(t, err)
			saved = max(saved, float64(d)-calls)
			outcomesFit(t, w, outcomes, law, name, rule)
			fits(t, sampleMany(t, w, s, 7, fewerDraws).states, law, familyLevel/8, name, rule)
		}
	}
	if saved < 0.1 {
		t.Errorf("a call reveals several at most %.3f times: the test shows little", saved)
	}
}
