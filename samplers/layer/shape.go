package layer

import (
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Shape changes the rows of a canvas by guidance and rules. A nil Shape changes nothing.
type Shape struct {
	guidance *Guidance
	rules    *Rules
	canvas   *samplers.Canvas
	// The rules' end is not drawn before early.
	early int
	// hidden holds the ids of the second canvas that differ, and −1 elsewhere; nil for no second canvas.
	hidden []int64
	// asked holds the inner decoder's rows, and second the second canvases.
	asked  []samplers.AskRow
	second []int64
	data   draw.Row
}

// On returns the shape of the rows of a canvas with free positions.
func (k *Constraint) On(c *samplers.Canvas, free []int) (s *Shape, err error) {
	s = &Shape{guidance: k.Guidance, rules: k.Rules, canvas: c, early: k.Rules.early(free, c.Len())}
	if k.Guidance != nil && len(free) > 0 {
		s.hidden, err = k.Guidance.hide(c)
	}
	return s, err
}

// Fork returns s for another canvas that began in the same state.
func (s *Shape) Fork() *Shape {
	if s == nil {
		return nil
	}
	out := *s
	out.asked, out.second, out.data = nil, nil, draw.Row{}
	return &out
}

// Ask adds the second canvases to a request about a canvas outside an engine. [Shape.Rows] then
// returns the requested rows, which may be kept.
func (s *Shape) Ask(c *samplers.Canvas, a *samplers.Ask) {
	if s != nil {
		s.canvas = c
		s.expand(a)
	}
}

// Rows turns the network's rows into the requested ones.
func (s *Shape) Rows(r samplers.Rows) samplers.Rows {
	if s == nil {
		return r
	}
	s.data = draw.Row{}
	return s.answer(r, samplers.HeadRows, 0, true)
}

// expand adds the second canvas of each requested one.
func (s *Shape) expand(a *samplers.Ask) {
	s.asked = append(s.asked[:0], a.Rows...)
	if s.hidden == nil {
		return
	}
	s.second = slices.Grow(s.second[:0], s.canvas.Len()*len(a.Rows)) // rows point into it
	for _, r := range s.asked {
		from := len(s.second)
		s.second = append(s.second, r.IDs(s.canvas)...)
		second := s.second[from:]
		for l, id := range s.hidden {
			if id >= 0 {
				second[l] = id
			}
		}
		a.Rows = append(a.Rows, samplers.AskRow{Canvas: second, Positions: r.Positions, Theta: r.Theta, Keep: 2 * r.Keep, Guess: r.Guess, Compute: r.Compute, Block: r.Block, Beside: r.Beside})
	}
}

// answer turns the network's rows into the answer for a head.
func (s *Shape) answer(r samplers.Rows, head samplers.Head, top int, rowsToo bool) samplers.Rows {
	var data []draw.Row
	var best [][]draw.Result
	s.data = s.data.Empty() // rows may point into its memory before it grew
	for i, ask := range s.asked {
		from := s.data.Len()
		drawn := make([]draw.Result, len(ask.Positions))
		for j, l := range ask.Positions {
			at := s.data.Len()
			s.data = s.data.Append(r.Row(i, j))
			row := s.data.Slice(at, at+r.Columns())
			if s.hidden != nil {
				s.guidance.Guide(row, r.Row(len(s.asked)+i, j))
			}
			if s.rules != nil {
				s.rules.forbid(row, ask.Seen(s.canvas, l), l, s.early)
			}
			if head == samplers.HeadBest {
				drawn[j].Best, drawn[j].Err = r.Categorical().Best(row, ask.Uniforms[j], top)
				if !rowsToo {
					s.data = s.data.Empty()
				}
			}
		}
		data, best = append(data, s.data.Slice(from, s.data.Len())), append(best, drawn)
	}
	return samplers.NewRows(r.Columns(), data, best, r.Categorical())
}
