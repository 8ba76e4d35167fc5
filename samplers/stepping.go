package samplers

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// kernel is the law of a sampler whose reveals depend on the network's rows, so that it has no
// plan: as a planner it says so.
type kernel interface {
	planner
	// head is what its decoders ask for where tokens are drawn so.
	head(d draw.Draw) Head
	start(c *Canvas, d *draw.Draws, free []int, denoise bool) (Decoder, error)
}

// unplanned is what laws without a plan say of it.
type unplanned struct{}

func (unplanned) plan(*Plan) error { return errNoPlan }

func (unplanned) declare() Law {
	return Law{Why: "at each step its rows decide, at random, what is revealed"}
}

func (unplanned) calls(int) (blocks, left float64, err error) { return 0, 0, errNoPlan }

func (unplanned) head(draw.Draw) Head { return HeadRows }

// stepping is what decoders share that go through a grid with the rows of all masked
// positions: of networks without time only when the canvas has changed.
type stepping struct {
	canvas *Canvas
	draws  *draw.Draws
	grid   schedule.Grid
	masked []int
	// step is the next one to take. denoise says that what the last one leaves is filled,
	// finishing that this is under way.
	step               int
	denoise, finishing bool
}

// hit is a position that a step reveals, with the number of its row and its token.
type hit struct {
	row, position, token int
	lambda, logP         float64
}

func (s *stepping) Ask(a *Ask) bool {
	if len(s.masked) == 0 || s.finishing {
		return false
	}
	if s.step == s.grid.Steps() {
		if !s.denoise {
			return false
		}
		s.finishing, a.Finish = true, true
	}
	a.Rows = append(a.Rows, AskRow{Positions: s.masked, Theta: s.grid.Theta[s.step]})
	if a.Step = s.step; s.finishing {
		a.Step = -1
	}
	return true
}

// fill draws what the steps left.
func (s *stepping) fill(r Rows, e *Edit) error {
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
func (s *stepping) set(revealed []hit, e *Edit) {
	slices.SortFunc(revealed, func(a, b hit) int { return cmp.Or(cmp.Compare(b.lambda, a.lambda), a.position-b.position) })
	for _, h := range revealed {
		e.Set(h.position, h.token, h.logP)
		e.Hit(h.lambda)
	}
	s.masked = slices.DeleteFunc(s.masked, s.canvas.holdsToken)
}

// mostSteps is the most of a decoder that goes through a grid with the rows of all masks.
func mostSteps(g schedule.Grid, c Spec, d int) int {
	if c.TimeConditioned {
		return g.Steps() + 1
	}
	return min(g.Steps(), d) + 1
}
