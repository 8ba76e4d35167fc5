package samplers_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// TestLookBackTimes checks that paired FHS queries a time-conditioned network at λ = m/d, or at the
// end of its noise if it has no row at λ = 1.
func TestLookBackTimes(t *testing.T) {
	for _, test := range []struct {
		c     samplers.Spec
		first float64
	}{
		{samplers.Spec{TimeConditioned: true, InfiniteSigma: true}, 1},
		{samplers.Spec{TimeConditioned: true}, -math.Expm1(-5)},
		{samplers.Spec{TimeConditioned: true, Noise: "loglinear"}, 1 - 1e-3},
	} {
		s := made(t, catalog.Options{Sampler: "paired-fhs", Sizes: "2,1,3"}, test.c)
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(6))
		for i, want := range []float64{test.first, 4.0 / 6, 3.0 / 6} {
			if b := p.Blocks[i]; math.Abs(b.Lambda-want) > 1e-12 {
				t.Errorf("block %d is asked at λ = %v, want %v", i, b.Lambda, want)
			}
		}
	}
}

// TestLookBackWeights checks which blocks look back, and by how much.
func TestLookBackWeights(t *testing.T) {
	for sizes, want := range map[string][]float64{
		"2,2,1,3,4": {0, 0.5, 0, 1, 0},
		"1,1,1":     {0, 0, 0},
		"1,2":       {0, 0.5},
	} {
		s := mustNew(t, catalog.Options{Sampler: "paired-fhs", Sizes: sizes})
		d := 0
		for _, size := range strings.Split(sizes, ",") {
			d += int(size[0] - '0')
		}
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(d))
		for i, b := range p.Blocks {
			if b.Weight != want[i] || b.Weight != 0 && b.Floor != plan.DefaultFloor || i > 0 && slices.Equal(p.Blocks[i-1].Ahead, b.Positions) != (b.Weight != 0) {
				t.Errorf("%s: block %d has weight %v, floor %v, want %v", sizes, i, b.Weight, b.Floor, want[i])
			}
		}
	}
}
