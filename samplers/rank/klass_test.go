package rank_test

import (
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// klassRule is KLASS on one block after another, by its definition, at temperature 1.
type klassRule struct {
	block, history        int
	threshold, divergence float64
}

// law returns the law on a world, in as many steps as positions.
func (k klassRule) law(w *laws.World) []float64 {
	rows := w.Rows(0)
	return lawstest.Outcomes(w.States, func(pick func([]float64) int) int {
		state, before, from, calls := w.AllMask(), -1, 0, 0
		stable := make([]int, w.D) // the number of calls for which each position was stable
		for lawstest.Masks(w.Space, state) > 0 {
			next, ready := state, false
			best, surest := 0, -1.0
			w.EachMasked(state, func(l int) {
				row := w.Row(rows, state, l)
				if stable[l]++; before < 0 || laws.KL(row, w.Row(rows, before, l)) >= k.divergence {
					stable[l] = 0
				}
				if l >= from+k.block {
					return
				}
				token := pick(row)
				if row[token] > k.threshold && stable[l] >= k.history && calls+1 >= k.history {
					next, ready = w.Reveal(next, l, token), true
				}
				if score := math.Round(row[token] * 0x1p40); score > surest {
					best, surest = w.Reveal(state, l, token), score
				}
			})
			if !ready { // one per call
				next = best
			}
			before, state, calls = state, next, calls+1
			if lawstest.Masks(w.Space, state) == w.D-from-k.block { // the block is filled
				from, calls = from+k.block, 0
			}
		}
		return state
	})
}

// TestStable checks that samples of klass, and its enumerated outcomes, have the law of its
// definition.
func TestStable(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	saved := 0.0
	for _, name := range []string{"markov4-sharp", "xor3-mixed", "markov3-exact"} {
		w, theory := lawstest.Open(t, name)
		d := theory.D
		rules := []klassRule{{d, 1, 0.3, 0.2}, {d, 2, 0.1, 0.5}}
		if d%2 == 0 {
			rules = append(rules, klassRule{2, 1, 0.3, 0.3}, klassRule{2, 2, 0.05, 0.6})
		}
		for _, rule := range rules {
			o := catalog.Options{Sampler: "klass", Steps: d, RankOptions: catalog.RankOptions{Threshold: rule.threshold, KLThreshold: rule.divergence, History: rule.history}}
			if rule.block < d {
				o.BlockLength = rule.block
			}
			s := lawstest.NewFor(t, o, w.Spec())
			calls, _ := lawstest.HasLaw(t, w, w, s, rule.law(theory), lawstest.FamilyLevel/8, name, rule)
			saved = max(saved, float64(d)-calls)
		}
	}
	if saved < 0.1 {
		t.Errorf("a call reveals several at most %.3f times: the test shows little", saved)
	}
}
