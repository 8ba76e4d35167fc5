package likelihood_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestMoreLaws compares the laws of samplers built from a user's options with reference laws, for
// every text of worlds with and without time, all samplers of a text together. Bounds by many plans
// take the place of laws of samplers that query a world with time at random times.
func TestMoreLaws(t *testing.T) {
	reftest.Long(t)
	for _, name := range []string{"markov4-sharp", "timed3"} {
		w, laws := lawstest.MoreLaws(t, name)
		e, f := evaluator(t, w), w.Facts()
		var ss, random []*catalog.Sampler
		var of, ofRandom []lawstest.More
		checked := make(map[string]int)
		for _, l := range laws {
			o, ok := l.Options()
			if !ok || o.Sampler == "entropy-bounded" {
				continue
			}
			s := reftest.Must(catalog.New(o, samplers.Spec{Noise: "exp", TimeConditioned: f.TimeConditioned, InfiniteSigma: true}))(t)
			checked[l.Sampler]++
			if f.TimeConditioned && slices.Contains([]string{"uniformization", "matu", "parallel-fhs"}, o.Sampler) {
				reftest.Fails(t, e.Fits(f.Length, s), s.String()+": it queries this time-conditioned network at random times", name)
				random, ofRandom = append(random, s), append(ofRandom, l)
				continue
			}
			ss, of = append(ss, s), append(of, l)
		}
		sums := make([]float64, len(ss))
		for i := range laws[0].LawDenoised {
			target := likelihood.Whole(sequence(i, f.Length, f.Columns))
			got := reftest.Must(e.Laws(context.Background(), target, ss))(t)
			for k, l := range of {
				denoise, leave := got[k].NegLog, got[k].NegLog
				if g := got[k].Endings; g != nil {
					denoise, leave = g.Denoise, g.Leave
				}
				sums[k] += math.Exp(-denoise)
				if want := -math.Log(l.LawDenoised[i]); !near(denoise, want) {
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
		// The mean of n draws of K plans is above −log P, by n/2·SE² for large K.
		const plans, draws = 500, 12
		for k, s := range random {
			for i, p := range ofRandom[k].LawDenoised {
				target := []likelihood.Target{likelihood.Whole(sequence(i, f.Length, f.Columns))}
				got := reftest.Must(e.Estimate(context.Background(), target, uint64(i), likelihood.Config{Form: likelihood.Plans, Plans: plans, Draws: draws, Sampler: s, Seed: 6}))(t)[0].Nats
				if over := got.Mean + math.Log(p); over < -4*got.SE || over > 4*got.SE+draws*got.SE*got.SE {
					t.Errorf("%s: text %d: %s %+v: %v by %d plans, want %v", name, i, ofRandom[k].Sampler, ofRandom[k].Settings, got, plans, -math.Log(p))
				}
			}
		}
		for k, sum := range sums {
			if math.Abs(sum-1) > 1e-10 {
				t.Errorf("%s: %s %+v: probabilities sum to %v", name, of[k].Sampler, of[k].Settings, sum)
			}
		}
		for _, sampler := range []string{"uniformization", "matu", "dmpm", "tweedie", "fhs_parallel"} {
			if checked[sampler] < 2 {
				t.Errorf("%s: %d laws of %s", name, checked[sampler], sampler)
			}
		}
	}
}
