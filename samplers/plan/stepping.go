package plan

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// stepped is a kernel on a grid whose reveals depend on the network's rows, so that it has no plan.
type stepped struct {
	// Steps are those of the sampler's own plan, rows of mass 1.
	Steps schedule.Steps
	// denoise is whether what the last step leaves is filled.
	denoise bool
}

func (stepped) Law() samplers.Law {
	return samplers.Law{Why: "at each step its rows decide, at random, what is revealed"}
}

// Denoises reports whether what the last step leaves is filled.
func (s stepped) Denoises() bool { return s.denoise }

func (stepped) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

// MostCalls is a call a step with the rows of all masks, and one to finish.
func (s stepped) MostCalls(c samplers.Spec, d, _ int) int {
	if c.TimeConditioned {
		return s.Steps.Grid.Steps() + 1
	}
	return min(s.Steps.Grid.Steps(), d) + 1
}

// stepping is what decoders share that go through a grid with the rows of all masked
// positions: of networks without time only when the canvas has changed.
type stepping struct {
	canvas *samplers.Canvas
	draws  *draw.Numbers
	grid   schedule.Grid
	masked []int
	// step is the next one to take. denoise is whether what the last one leaves is filled,
	// finishing whether this is under way.
	step               int
	denoise, finishing bool
}

// hit is a position that a step reveals, with the number of its row and its token.
type hit struct {
	row, position, token int
	lambda, logP         float64
}

func (s *stepping) Ask(a *samplers.Ask) bool {
	if len(s.masked) == 0 || s.finishing {
		return false
	}
	if s.step == s.grid.Steps() {
		if !s.denoise {
			return false
		}
		s.finishing, a.Finish = true, true
	}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: s.masked, Theta: s.grid.Theta[s.step]})
	if a.Step = s.step; s.finishing {
		a.Step = -1
	}
	return true
}

// fill draws what the steps left.
func (s *stepping) fill(r samplers.Rows, e *samplers.Edit) error {
	for i, l := range s.masked {
		token, logP, err := r.Token(0, i, s.draws.Token(l))
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, token, logP)
	}
	return nil
}

// set puts what was revealed on the canvas, in the order of its times.
func (s *stepping) set(revealed []hit, e *samplers.Edit) {
	slices.SortFunc(revealed, func(a, b hit) int { return cmp.Or(cmp.Compare(b.lambda, a.lambda), a.position-b.position) })
	for _, h := range revealed {
		e.Set(h.position, h.token, h.logP)
		e.Hit(h.lambda)
	}
	s.masked = slices.DeleteFunc(s.masked, s.canvas.HoldsToken)
}
