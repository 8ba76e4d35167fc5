package reading

import (
	"context"
	"fmt"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Together is how many canvases are asked about at once: the rows of them all are in memory, and other
// jobs of the engine wait for them.
const Together = 16

// ask asks an engine about all rows, a job for each length of a canvas.
func (p *plan) ask(ctx context.Context, engine *samplers.Engine) error {
	byLength := make(map[int]*reader)
	for _, r := range p.rows {
		n := len(r.ids)
		if byLength[n] == nil {
			byLength[n] = &reader{}
		}
		byLength[n].rows = append(byLength[n].rows, r)
	}
	for n, method := range byLength {
		job := samplers.Job{Canvas: slices.Repeat([]int{p.spec.Mask}, n), Method: method}
		for _, err := range engine.Sample(ctx, job) {
			if err != nil {
				return fmt.Errorf("reading: %w", err)
			}
		}
	}
	return nil
}

// reader is a method that asks about rows of one length, and writes nothing.
type reader struct{ rows []*row }

func (m *reader) Start(c *samplers.Canvas, _ *draw.Numbers) (samplers.Decoder, error) {
	return &decoder{canvas: c, left: m.rows}, nil
}

// decoder has asked about now, and will ask about left.
type decoder struct {
	canvas    *samplers.Canvas
	now, left []*row
}

// Ask asks about one canvas whose most probable tokens are wanted, or several of which they are not.
func (d *decoder) Ask(a *samplers.Ask) bool {
	if len(d.left) == 0 {
		return false
	}
	n := 1
	if first := d.left[0]; first.top > 0 {
		a.Head, a.Top, a.RowsToo = samplers.HeadBest, first.top, len(first.wanted) > 0
	} else {
		for n < min(Together, len(d.left)) && d.left[n].top == 0 {
			n++
		}
	}
	d.now, d.left = d.left[:n], d.left[n:]
	for _, r := range d.now {
		a.Rows = append(a.Rows, samplers.AskRow{Canvas: r.ids, Positions: r.positions, Theta: d.theta(r.ids), Uniforms: slices.Repeat([]float64{0.5}, len(r.positions))})
	}
	return true
}

// theta is where a time-conditioned network is asked.
func (d *decoder) theta(ids []int64) float64 {
	masked := 0
	for _, id := range ids {
		if int(id) == d.canvas.Spec().Mask {
			masked++
		}
	}
	return d.canvas.Theta(float64(masked) / float64(len(ids)+1))
}

// Take reads what is wanted, and leaves the canvas as it is.
func (d *decoder) Take(rows samplers.Rows, _ *samplers.Edit) error {
	for i, r := range d.now {
		for j, to := range r.to {
			best, err := rows.Best(i, j)
			if err != nil {
				return fmt.Errorf("position %d: %w", to.Position, err)
			}
			to.Entropy, to.Top = estimate.Number(best.Entropy), []Token{}
			for _, t := range best.Top {
				to.Top = append(to.Top, Token{ID: t.Token, LogP: estimate.Number(t.LogP)})
			}
		}
		sums := make(map[int]float64) // log Σ e^x by position
		for _, w := range r.wanted {
			if _, ok := sums[w.j]; !ok {
				sum, err := rows.LogSum(i, w.j)
				if err != nil {
					return fmt.Errorf("position %d: %w", r.positions[w.j], err)
				}
				sums[w.j] = sum
			}
			*w.to = rows.Row(i, w.j).At(w.token) - sums[w.j]
		}
	}
	return nil
}
