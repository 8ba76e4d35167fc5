package samplers

import (
	"slices"

	"mdmgen/samplers/draw"
)

// look sets the fields of a step that only observers use: the most probable tokens at each drawn
// position, and the mean entropy of the rows.
func (e *engine) look(t *task) {
	s := &t.step
	s.Top = make([][]draw.Scored, len(s.Positions))
	var sum float64
	rows := 0
	for i, r := range t.ask.Rows {
		if r.Beside {
			continue
		}
		own := t.extends(r.Canvas)
		for j, l := range r.Positions {
			b, err := e.found(t, i, j)
			if err != nil {
				continue // A decoder that draws from the row has failed; others do without it.
			}
			sum += b.Entropy
			rows++
			// Of several canvases that contain the drawn tokens, the last contains all of them, as
			// in look-ahead.
			if at := slices.Index(s.Positions, l); at >= 0 && own {
				s.Top[at] = b.Top[:min(t.job.Top, len(b.Top))]
			}
		}
	}
	s.Entropy = sum / float64(max(rows, 1))
}

// extends reports whether a canvas of a request, nil for the task's own, contains all tokens of the
// task except those of this step. The second canvas of guidance lacks some.
func (t *task) extends(canvas []int64) bool {
	for l, id := range canvas {
		if id != t.canvas.ids[l] && t.canvas.HoldsToken(l) && !slices.Contains(t.step.Positions, l) {
			return false
		}
	}
	return true
}

// found returns the Best of a row of a task.
func (e *engine) found(t *task, i, j int) (draw.Best, error) {
	if t.ask.Head == HeadBest {
		return t.best[i][j].Best, t.best[i][j].Err
	}
	return t.draw.Best(t.rows[i].Slice(j*e.spec.Columns, (j+1)*e.spec.Columns), 0.5, t.job.Top)
}
