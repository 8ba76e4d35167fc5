package likelihood_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// eachText calls do with all texts of d tokens below v that begin with first.
func eachText(first, d, v int, do func(ids []int)) {
	ids := make([]int, d)
	for n := range int(math.Pow(float64(v), float64(d-1))) {
		ids[0] = first
		for l := d - 1; l > 0; l-- {
			ids[l], n = n%v, n/v
		}
		do(slices.Clone(ids))
	}
}

// TestTwoLaws computes both laws of all texts of a world with causal rows. That of causal rows is the product
// of the conditionals, that of one group a block the product of the first position's causal row and the
// others' rows; all sum to 1, and samples have the frequencies of theirs.
func TestTwoLaws(t *testing.T) {
	t.Parallel()
	const d, v, size, n = 6, 2, 3, 4000
	w := lawstest.NewCausal(t, 5, d, v, size, 0.5)
	e := reftest.Must(likelihood.New(w, likelihood.Options{Blocks: true}))(t)
	mu := make([]float64, v)
	inBlock := func(ids []int) (logP float64) { // blocks 1..3, 4..5
		for l := 1; l < d; l++ {
			from := l - (l-1)%size
			if l == from {
				logP += w.Log(ids, []int{l})
				continue
			}
			seen := slices.Clone(ids)
			for k := from + 1; k < d; k++ {
				seen[k] = v
			}
			lawstest.Mu(w.World, mu, w.State(seen), l, 0)
			logP += math.Log(mu[ids[l]])
		}
		return logP
	}
	for _, o := range []catalog.Options{{Sampler: "causal"}, {Sampler: "speculate"}, {Sampler: "spread", Steps: 1}, {}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.6}}} {
		s := lawstest.NewFor(t, o, w.Spec())
		var ts []likelihood.Target
		eachText(1, d, v, func(ids []int) { ts = append(ts, likelihood.Target{IDs: ids, Free: likelihood.InOrder(d)[1:]}) })
		values := reftest.Must(e.Values(t.Context(), ts, s))(t)
		p, sum := make([]float64, len(ts)), 0.0
		for i, x := range values {
			p[i] = math.Exp(-x.Sampler.NegLog)
			sum += p[i]
			want := math.NaN()
			switch o.Sampler {
			case "causal", "speculate":
				want = w.Log(ts[i].IDs, ts[i].Free)
			case "spread":
				want = inBlock(ts[i].IDs)
			}
			if !(math.Abs(math.Log(p[i])-want) <= 1e-12) && !math.IsNaN(want) {
				t.Fatalf("%s: log P of %v is %v, want %v", o.Sampler, ts[i].IDs, math.Log(p[i]), want)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: the law sums to %v", o.Sampler, sum)
		}
		canvas := append([]int{1}, slices.Repeat([]int{v}, d-1)...)
		counts := make([]int, len(ts))
		got, _ := lawstest.Collect(t, w, samplers.Copies(canvas, 0, n), samplers.Config{Method: s, Seed: 2, Batch: 50})
		for _, r := range got {
			counts[slices.IndexFunc(ts, func(x likelihood.Target) bool { return slices.Equal(x.IDs, r.IDs) })]++
		}
		if x := reftest.Goodness(counts, p); x < 1e-3 {
			t.Errorf("%s: the counts %v have probability %v", o.Sampler, counts, x)
		}
	}
}

// TestTwoLawsBounds compares estimates of the NELBO, from noisy copies, and bounds by plans with the exact
// values in blocks.
func TestTwoLawsBounds(t *testing.T) {
	t.Parallel()
	const d, v, size = 6, 2, 3
	w := lawstest.NewCausal(t, 6, d, v, size, 0.7)
	e := reftest.Must(likelihood.New(w, likelihood.Options{Blocks: true}))(t)
	text := likelihood.Target{IDs: []int{0, 1, 1, 0, 1, 0}, Free: []int{1, 2, 3, 5}}
	fhs := lawstest.NewFor(t, catalog.Options{}, w.Spec())
	exact := reftest.Must(e.Values(t.Context(), []likelihood.Target{text}, fhs))(t)[0]
	got := reftest.Must(e.Estimate(t.Context(), []likelihood.Target{text}, 0, likelihood.Config{Draws: 2000, Confidence: 0.999}))(t)[0].Nats
	if want := float64(*exact.NELBO); !(got.Lo <= want && want <= got.Hi) || got.SE == 0 {
		t.Errorf("the NELBO is estimated as %v, want %v", got, want)
	}
	two := lawstest.NewFor(t, catalog.Options{Sampler: "parallel-fhs", Steps: 2}, w.Spec())
	want := reftest.Must(e.Values(t.Context(), []likelihood.Target{text}, two))(t)[0].Sampler.NegLog
	// The mean of n plans' P has a standard error of about that of one over √n.
	const one, n = 200, 5000
	var sum, squares float64
	for seed := range uint64(one) {
		p := math.Exp(want - reftest.Must(e.Costs(t.Context(), []likelihood.Target{text}, two, 1, seed))(t)[0])
		sum, squares = sum+p, squares+(p-1)*(p-1)
	}
	se := math.Sqrt(squares / one)
	if math.Abs(sum/one-1) > 4*se/math.Sqrt(one) || se == 0 {
		t.Errorf("the mean of P by one plan is %v of P, with a standard deviation of %v", sum/one, se)
	}
	if bound := reftest.Must(e.Costs(t.Context(), []likelihood.Target{text}, two, n, 2))(t)[0]; math.Abs(bound-want) > 4*se/math.Sqrt(n) {
		t.Errorf("the bound by %d plans is %v, want %v ± %v", n, bound, want, se/math.Sqrt(n))
	}
	reftest.Fails(t, e.Check(likelihood.Target{IDs: text.IDs, Free: []int{0, 1}}), "position 0")
}
