package likelihood_test

import (
	"context"
	"math"
	"testing"

	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestMoreLaws compares the laws of samplers built from a user's options with reference laws, for
// every text of worlds with and without time, all samplers of a text together.
func TestMoreLaws(t *testing.T) {
	for _, name := range []string{"markov4-sharp", "timed3"} {
		w, laws := lawstest.MoreLaws(t, name)
		e, f := evaluator(t, w), w.Facts()
		var ss []*catalog.Sampler
		var of []lawstest.More
		checked := make(map[string]int)
		for _, l := range laws {
			o, ok := l.Options()
			if !ok || o.Scores != "" || o.Sampler == "entropy-bounded" {
				continue
			}
			s := reftest.Must(catalog.New(o, samplers.Spec{Noise: "exp", TimeConditioned: f.TimeConditioned, InfiniteSigma: true}))(t)
			ss, of = append(ss, s), append(of, l)
			checked[l.Sampler]++
		}
		sums := make([]float64, len(ss))
		for i := range laws[0].LawDenoised {
			target := likelihood.Whole(sequence(i, f.Length, f.Columns))
			got := reftest.Must(e.Laws(context.Background(), target, ss))(t)
			for k, l := range of {
				denoise, leave := got[k].NegLog, got[k].NegLog
				if g := got[k].Grid; g != nil {
					denoise, leave = g.Denoise, g.Leave
				}
				sums[k] += math.Exp(-denoise)
				if want := -math.Log(l.LawDenoised[i]); !near(denoise, want) || got[k].QuadratureError > 1e-9 {
					t.Errorf("%s: text %d: %s %+v: %v, want %v", name, i, l.Sampler, l.Settings, got[k], want)
				}
				if l.Law == nil {
					continue
				}
				if want := -math.Log(l.Law[w.State(target.IDs)]); !near(leave, want) {
					t.Errorf("%s: text %d: %s %+v with masks left: %v, want %v", name, i, l.Sampler, l.Settings, leave, want)
				}
			}
		}
		for k, sum := range sums {
			if math.Abs(sum-1) > 1e-10 {
				t.Errorf("%s: %s %+v: probabilities sum to %v", name, of[k].Sampler, of[k].Settings, sum)
			}
		}
		for _, sampler := range []string{"uniformization", "matu", "dmpm", "tweedie", "trapezoid_plan", "fhs_parallel", "fhs_paired"} {
			if checked[sampler] < 2 {
				t.Errorf("%s: %d laws of %s", name, checked[sampler], sampler)
			}
		}
	}
}
