package samplers_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// lookingBack are samplers that mix the rows of two calls.
var lookingBack = []catalog.Options{
	{Sampler: "trapezoidal", Steps: 2}, {Sampler: "trapezoidal", Grid: "paper", Steps: 6}, {Sampler: "trapezoidal", Steps: 3, Draw: draw.Settings{TopK: 4}},
	{Sampler: "paired-fhs", Steps: 5}, {Sampler: "paired-fhs", Steps: 4, Floor: new(float64)},
}

// TestFillsLookBack follows runs call by call: each token must be the one that Pick draws, with the
// uniform of its position, from the mixture of the row on the canvas of this call and the row on
// the canvas of the previous call of the same sequence. This must hold with any other sequences in
// the batch, and with a network whose rows are shifted.
func TestFillsLookBack(t *testing.T) {
	for _, shift := range []bool{false, true} {
		for _, timed := range []bool{false, true} {
			for _, o := range lookingBack {
				s := made(t, o, samplers.Spec{TimeConditioned: timed})
				mixed := replay(t, s, newHashNet(timed), shift)
				if mixed == 0 {
					t.Errorf("%v, timed %v: no token was drawn from two rows", s, timed)
				}
			}
		}
	}
}

// replay returns the number of tokens drawn from two rows.
func replay(t *testing.T, s *catalog.Sampler, net *hashNet, shift bool) int {
	t.Helper()
	canvas := slices.Repeat([]int{6}, 11)
	canvas[0], canvas[4] = 3, 1
	cfg := net.config(s, 3)
	net.change = func(s *samplers.Spec) { s.Shift = shift }
	category := reftest.Must(draw.NewCategorical(net.Spec().Vocabulary, s.Settings().Draw))(t)
	// now and before hold the canvas and the time of this call and of the previous one.
	type call struct {
		ids   []int64
		theta float64
	}
	now, before := make(map[uint64]call), make(map[uint64]call)
	plans := make(map[uint64]*plan.Plan)
	for i := range uint64(8) {
		ids := make([]int64, len(canvas))
		var free []int
		for l, id := range canvas {
			if ids[l] = int64(id); id == 6 {
				free = append(free, l)
			}
		}
		one := new(plan.Plan)
		drawPlan(t, s, one, cfg.Seed, i, free)
		plans[i] = one
		now[i] = call{ids: ids}
	}
	row := func(c call, l int) []float64 {
		if shift {
			l--
		}
		var sigma []float64
		if net.timed {
			sigma = []float64{c.theta}
		}
		out, _ := net.Logits(context.Background(), samplers.Call{IDs: c.ids, Positions: []int64{int64(l)}, Counts: []int{1}, Sigma: sigma})
		p := make([]float64, net.columns)
		reftest.OK(t, category.Probabilities(p, draw.Single(out)))
		return p
	}
	count := 0
	cfg.OnStep = func(f samplers.Step) {
		block := plan.Block{Positions: plans[f.Index].Left}
		if !f.Finish {
			block, plans[f.Index].Blocks = plans[f.Index].Blocks[0], plans[f.Index].Blocks[1:]
		}
		if !slices.Equal(f.Positions, block.Positions) {
			t.Fatalf("%v: sequence %d: positions %v, the plan has %v", s, f.Index, f.Positions, block.Positions)
		}
		at := now[f.Index]
		at.theta = f.Theta
		after := slices.Clone(at.ids)
		for i, l := range f.Positions {
			p := row(at, l)
			if block.Weight > 0 {
				count++
				draw.Mix(p, p, row(before[f.Index], l), block.Weight, block.Floor)
			}
			want := reftest.Pick(p, draw.NewNumbers(cfg.Seed, f.Index).Token(l))
			if logP := math.Log(p[want]); f.Tokens[i] != want || math.Abs(f.LogP[i]-logP) > 1e-12 {
				t.Errorf("%v: sequence %d, position %d: token %d with log p %v, want %d with %v", s, f.Index, l, f.Tokens[i], f.LogP[i], want, logP)
			}
			after[l] = int64(f.Tokens[i])
		}
		before[f.Index], now[f.Index] = at, call{ids: after}
	}
	collect(t, net, repeat(canvas, 8), cfg)
	return count
}

// TestTrapezoidalAsksTwice checks that a time-conditioned network is queried at the start of a step
// even if its first half reveals nothing, and that a time-free one is not.
func TestTrapezoidalAsksTwice(t *testing.T) {
	for _, timed := range []bool{false, true} {
		s := made(t, catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: 3}, samplers.Spec{TimeConditioned: timed})
		steps, _ := s.Steps()
		const d, n = 4, 4000
		var p plan.Plan
		var calls average
		bare := 0
		for i := range uint64(n) {
			drawPlan(t, s, &p, 1, i, upTo(d))
			for j, b := range p.Blocks {
				if b.Theta != steps.Grid.Theta[b.Step] || b.Lambda != steps.Grid.Lambda[b.Step] {
					t.Fatalf("half step %d is asked at λ = %v", b.Step, b.Lambda)
				}
				if len(b.Positions) == 0 {
					bare++
				}
				if looks := b.Weight != 0; looks != (b.Step%2 == 1 && j > 0 && p.Blocks[j-1].Step == b.Step-1) || timed && b.Step%2 == 1 && !looks {
					t.Fatalf("timed %v: half step %d of %+v: weight %v", timed, b.Step, p.Blocks, b.Weight)
				}
			}
			calls.add(float64(len(p.Blocks)))
		}
		if (bare > 0) != timed {
			t.Errorf("timed %v: %d calls reveal nothing", timed, bare)
		}
		want, _, err := s.ExpectedCalls(d)
		reftest.OK(t, err)
		calls.check(t, want, "timed", timed, "calls")
	}
}
