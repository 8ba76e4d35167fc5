package certificate_test

import (
	"context"
	"math"
	"testing"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers/catalog"
)

// TestNetwork compares bounds with distances on a network, inside a text. The distances are
// estimated by a study of all subsets of five positions.
func TestNetwork(t *testing.T) {
	ctx := context.Background()
	m, err := model.Open(ctx, reftest.Builtin(t), model.Options{Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	e := reftest.Must(likelihood.New(m, likelihood.Options{}))(t)
	var ss []*catalog.Sampler
	for _, o := range []catalog.Options{
		{}, {Sampler: "parallel-fhs", Steps: 3}, {Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "tweedie", Steps: 16, PlanOptions: catalog.PlanOptions{Grid: "lambda"}},
		{Sampler: "euler", Steps: 6, PlanOptions: catalog.PlanOptions{Noise: "exp"}}, {Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Noise: "exp"}}, {Sampler: "tau-leaping", Steps: 8, PlanOptions: catalog.PlanOptions{Noise: "exp", Finish: "leave", Delta: new(catalog.Theta(0.2))}},
	} {
		ss = append(ss, reftest.Must(catalog.New(o, m.Spec()))(t))
	}
	mask := m.Facts().MaskID
	ids, free := []int{300, mask, mask, 40, mask, mask, mask, 17}, []int{1, 2, 4, 5, 6}
	exact := reftest.Must(quality.Measure(ctx, e, likelihood.Target{IDs: ids, Free: free}, ss, quality.Config{Samples: 30, Seed: 4}))(t)
	st := measured(t, m, ids, ss, certificate.Config{Runs: 120, Seed: 5, Batch: 24})
	if st.D != 5 || st.Calls != 5*5 {
		t.Errorf("%d positions, %d calls", st.D, st.Calls)
	}
	for i, s := range ss {
		tv, kl, b := exact.Distance(quality.TV, i), exact.Distance(quality.KL, i), st.Bound(i)
		t.Logf("%s: TV %v, bound %v, limit %.3f; KL %v, bound %v, limit %.3f", s, tv, b.TV, b.TVLimit, kl, b.KL, b.KLLimit)
		if b.TV.Mean+4*math.Hypot(b.TV.SE, tv.SE) < tv.Mean || b.KL.Mean+4*math.Hypot(b.KL.SE, kl.SE) < kl.Mean || b.TVLimit < tv.Mean-4*tv.SE || b.KLLimit < kl.Mean-4*kl.SE {
			t.Errorf("%s: TV %v, bound %v, limit %.3f; KL %v, bound %v, limit %.3f", s, tv, b.TV, b.TVLimit, kl, b.KL, b.KLLimit)
		}
	}
}
