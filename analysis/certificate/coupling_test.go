package certificate_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestCouple compares shares of pairs that differ with exact distances, which they are not
// below, for samplers of every kind, also those that have no certificate. Where one position
// is revealed a call in first-hitting's order, no pair differs.
func TestCouple(t *testing.T) {
	for _, name := range []string{"markov4-sharp", "dirichlet3-noisy", "timed3"} {
		file, w := lawstest.Open(t, name)
		ss := append(some(t, file), newSampler(t, catalog.Options{Sampler: "ordered"}, file))
		for i, s := range ss {
			c, err := certificate.Couple(context.Background(), file, blank(file), s, certificate.Config{Runs: 2000, Seed: 5, Batch: 100})
			if err != nil {
				t.Fatal(err)
			}
			is := distances(t, w, s).tv
			if c.Share.Mean < is-4*math.Sqrt(is*(1-is)/2000)-2e-7 || c.Limit < c.Share.Mean || c.Pairs != 2000 || float64(c.Apart) != math.Round(2000*c.Share.Mean) || c.Calls < 2000/100*w.D {
				t.Errorf("%s %s: %+v, exact %v", name, s, c, is)
			}
			if i == 0 && (c.Apart != 0 || c.Limit > 0.0015) {
				t.Errorf("%s: first-hitting and itself: %+v", name, c)
			}
			if law, _ := s.Law(); law.OneByOne && !law.Fixed && s.Denoises() && law.Steps == nil && name != "timed3" && c.Apart != 0 {
				t.Errorf("%s %s: %+v", name, s, c)
			}
		}
	}
}

// TestCoupleDraws: first-hitting draws tokens as the sampler does.
func TestCoupleDraws(t *testing.T) {
	file, _ := lawstest.Open(t, "markov4-sharp")
	s := newSampler(t, catalog.Options{Sampler: "ordered", Order: "random", Draw: draw.Settings{Temperature: ptr(0.3)}}, file)
	c, err := certificate.Couple(context.Background(), file, blank(file), s, certificate.Config{Runs: 200, Seed: 1, Batch: 200})
	if err != nil || c.Apart != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := certificate.Couple(context.Background(), file, blank(file), s, certificate.Config{}); err == nil || !strings.Contains(err.Error(), "0 pairs") {
		t.Error(err)
	}
	if _, err := certificate.Couple(context.Background(), file, []int{0, 1, 2, 0}, s, certificate.Config{Runs: 1}); err == nil || !strings.Contains(err.Error(), "no free position") {
		t.Error(err)
	}
}
