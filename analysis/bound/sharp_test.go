package bound

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
)

// TestSharpChain checks 2,000 runs on 40 networks whose weights have heavy tails. No statement is
// violated, neither with the sum over all texts nor with the weights of samples.
func TestSharpChain(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		w, _ := lawstest.Sharp(t, 3+i%3, uint64(i))
		e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
		r := reftest.Must(Chain(context.Background(), w, e, likelihood.Whole(make([]int, w.Facts().Length)), Config{Draws: 64, Seed: 1}))(t)
		checkForm(t, r)
		if sum := find(t, r, "normalisation"); !r.Holds || !sum.Left.Exact {
			t.Errorf("network %d: %+v", i, r.Lines)
		}
		all := reftest.Must((&worker{e: e}).windows(context.Background(), sequences(w)))(t)
		for seed := range uint64(50) {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			var drawn []window
			var logs []float64
			for range 64 {
				at, u := -1, random.Float64()
				for u > 0 && at < len(all)-1 {
					at++
					u -= math.Exp(-all[at].chain)
				}
				drawn, logs = append(drawn, all[at]), append(logs, -all[at].chain)
			}
			out := newDraft("chain", 0)
			normalised(out, ratios(drawn, logs), "the left-to-right chain")
			if r := out.finish(); !r.Holds {
				t.Errorf("network %d, seed %d: %s", i, seed, r.Lines[0].Verdict)
			}
		}
	}
}

// TestNormalisedSeesMore checks that weights with a mean above 1 are detected, whether few or many
// cause it.
func TestNormalisedSeesMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n    int
		mean float64
		ok   bool
	}{{64, 1, true}, {64, 1.4, false}, {1000, 1.05, false}, {1000, 1, true}} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = c.mean + 0.2*(r.Float64()-0.5)
		}
		out := newDraft("chain", 0)
		normalised(out, x, "a law")
		if l := find(t, out.finish(), "normalisation"); l.OK != c.ok {
			t.Errorf("%d of mean %v: %+v", c.n, c.mean, l)
		}
	}
}
