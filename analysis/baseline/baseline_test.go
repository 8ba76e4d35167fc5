package baseline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/causal"
)

// half is a causal model that gives token i the probability 2^(−i−1) after an even token, and
// another after an odd one.
type half struct{ fault error }

func (h half) LogProbs(_ context.Context, windows []causal.Window) ([][]float64, error) {
	out := make([][]float64, len(windows))
	for i, w := range windows {
		for l := w.From; l < len(w.IDs); l++ {
			p := []float64{0.5, 0.25, 0.25}[w.IDs[l]]
			if w.IDs[l-1]%2 == 1 {
				p = []float64{0.1, 0.2, 0.7}[w.IDs[l]]
			}
			out[i] = append(out[i], math.Log(p))
		}
	}
	return out, h.fault
}

// TestCausal checks that a window is read after its first token, and that given tokens count only
// as history.
func TestCausal(t *testing.T) {
	c := Causal{Model: half{}, Begin: 1}
	for _, test := range []struct {
		w    likelihood.Target
		want float64
	}{
		{likelihood.Whole([]int{2, 1, 0}), 0.7 * 0.25 * 0.1},
		{likelihood.Target{IDs: []int{2, 1, 0}, Free: []int{2}}, 0.1},
		{likelihood.Target{IDs: []int{2, 1, 0}, Free: []int{0, 2}}, 0.7 * 0.1},
	} {
		if got := math.Exp(logProb(t, c, test.w)); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%v: %v, want %v", test.w, got, test.want)
		}
		if sum := total(t, c, test.w, 3); math.Abs(sum-1) > 1e-14 {
			t.Errorf("%v: probabilities sum to %v", test.w, sum)
		}
	}
	if _, err := (Causal{Model: half{}, Begin: -1}).LogProb(context.Background(), []likelihood.Target{likelihood.Whole([]int{1})}); err == nil {
		t.Error("a first token without another before it")
	}
	fault := errors.New("no")
	if _, err := (Causal{Model: half{fault}}).LogProb(context.Background(), nil); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}

// TestFirstHitting checks that the law of a world sums to 1, and so does its mixture with another
// law.
func TestFirstHitting(t *testing.T) {
	m := reftest.Must(model.Open(context.Background(), reftest.Law(t, "xor3-mixed"), model.Options{}))(t)
	e := reftest.Must(likelihood.New(m, likelihood.Options{}))(t)
	for _, w := range []likelihood.Target{likelihood.Whole([]int{0, 0, 0}), {IDs: []int{0, 1, 0}, Free: []int{0, 2}}} {
		fhs, other := FirstHitting{e}, known{0.3, 0.7}
		if sum := total(t, fhs, w, 2); math.Abs(sum-1) > 1e-12 {
			t.Errorf("first-hitting: %v", sum)
		}
		if sum := total(t, mixture{0.3, fhs, other}, w, 2); math.Abs(sum-1) > 1e-12 {
			t.Errorf("the mixture: %v", sum)
		}
	}
	if got := Mix(0.25, []float64{math.Log(0.2), math.Inf(-1), math.Inf(-1)}, []float64{math.Log(0.4), math.Log(0.8), math.Inf(-1)}); math.Abs(math.Exp(got[0])-0.35) > 1e-15 || math.Abs(math.Exp(got[1])-0.6) > 1e-15 || !math.IsInf(got[2], -1) {
		t.Errorf("mixtures %v", got)
	}
}

// mixture is [Mix] of two distributions.
type mixture struct {
	a    float64
	p, q Distribution
}

func (m mixture) LogProb(ctx context.Context, windows []likelihood.Target) ([]float64, error) {
	p, err := m.p.LogProb(ctx, windows)
	if err != nil {
		return nil, err
	}
	q, err := m.q.LogProb(ctx, windows)
	return Mix(m.a, p, q), err
}

// known draws each token independently.
type known []float64

func (k known) LogProb(_ context.Context, windows []likelihood.Target) ([]float64, error) {
	out := make([]float64, len(windows))
	for i, w := range windows {
		for _, l := range w.Free {
			out[i] += math.Log(k[w.IDs[l]])
		}
	}
	return out, nil
}

func logProb(t testing.TB, r Distribution, w likelihood.Target) float64 {
	t.Helper()
	return reftest.Must(r.LogProb(context.Background(), []likelihood.Target{w}))(t)[0]
}

// total returns Σ p over all tokens at the free positions of a window.
func total(t testing.TB, r Distribution, w likelihood.Target, vocabulary int) (sum float64) {
	ids := slices.Clone(w.IDs)
	var fill func(i int)
	fill = func(i int) {
		if i == len(w.Free) {
			sum += math.Exp(logProb(t, r, likelihood.Target{IDs: ids, Free: w.Free}))
			return
		}
		for v := range vocabulary {
			ids[w.Free[i]] = v
			fill(i + 1)
		}
	}
	fill(0)
	return sum
}
