package samplers_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestPlansAreFollowed follows runs call by call: a call must fill a block of the sequence's plan, at
// its time, and each token must be the one that Pick draws, with the uniform of its position, from the
// row on the canvas of the call. This must hold with any other sequences in the batch, and with a
// network whose rows are shifted.
func TestPlansAreFollowed(t *testing.T) {
	for _, shift := range []bool{false, true} {
		for _, timed := range []bool{false, true} {
			for _, o := range append(slices.Clone(lawstest.Planned), catalog.Options{Sampler: "tweedie", Steps: 3, Draw: draw.Settings{TopK: 4}}) {
				follow(t, lawstest.NewFor(t, o, samplers.Spec{TimeConditioned: timed}), lawstest.NewHashNet(timed), shift)
			}
		}
	}
}

func follow(t *testing.T, s *catalog.Sampler, net *lawstest.HashNet, shift bool) {
	t.Helper()
	canvas := slices.Repeat([]int{6}, 11)
	canvas[0], canvas[4] = 3, 1
	cfg := lawstest.Config(s, 3)
	net.Change = func(s *samplers.Spec) { s.Shift = shift }
	category := reftest.Must(draw.NewCategorical(net.Spec().Vocabulary, s.Settings().Draw))(t)
	plans, canvases := make([]plan.Plan, 8), make([][]int64, 8)
	for i := range plans {
		var free []int
		for l, id := range canvas {
			canvases[i] = append(canvases[i], int64(id))
			if id == 6 {
				free = append(free, l)
			}
		}
		lawstest.DrawPlan(t, s, &plans[i], cfg.Seed, uint64(i), free)
	}
	row := func(ids []int64, theta float64, l int) []float64 {
		if shift {
			l--
		}
		c := samplers.Call{IDs: ids, Positions: []int64{int64(l)}, Counts: []int{1}}
		if net.Timed {
			c.Sigma = []float64{theta}
		}
		out := reftest.Must(net.Logits(context.Background(), c))(t)
		p := make([]float64, net.Columns)
		reftest.OK(t, category.Probabilities(p, draw.Single(out)))
		return p
	}
	cfg.OnStep = func(f samplers.Step) {
		p, ids := &plans[f.Index], canvases[f.Index]
		block := plan.Block{Positions: p.Left, Theta: p.LeftTheta}
		if !f.Finish {
			block, p.Blocks = p.Blocks[0], p.Blocks[1:]
		}
		if !slices.Equal(f.Positions, block.Positions) || f.Theta != block.Theta {
			t.Fatalf("%v: sequence %d: positions %v at %v, the plan has %v at %v", s, f.Index, f.Positions, f.Theta, block.Positions, block.Theta)
		}
		after := slices.Clone(ids)
		for i, l := range f.Positions {
			p := row(ids, f.Theta, l)
			want := reftest.Pick(p, draw.NewNumbers(cfg.Seed, f.Index).Token(l))
			if logP := math.Log(p[want]); f.Tokens[i] != want || math.Abs(f.LogP[i]-logP) > 1e-12 {
				t.Errorf("%v: sequence %d, position %d: token %d with log p %v, want %d with %v", s, f.Index, l, f.Tokens[i], f.LogP[i], want, logP)
			}
			after[l] = int64(f.Tokens[i])
		}
		canvases[f.Index] = after
	}
	lawstest.Collect(t, net, samplers.Copies(canvas, 0, len(plans)), cfg)
	for i, p := range plans {
		if len(p.Blocks) > 0 {
			t.Errorf("%v: sequence %d ends before %d blocks of its plan", s, i, len(p.Blocks))
		}
	}
}
