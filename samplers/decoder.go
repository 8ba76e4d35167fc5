package samplers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// kernel is the law of a grid sampler whose reveals depend on the network's rows, so that
// it has no plan: as a planner it says so.
type kernel interface {
	planner
	grid() Grid
	// decode is handed the rows of the masked positions of a slot and appends to the
	// revealed of its decoder what the step reveals, with tokens. Rows that have no time
	// hold until something is revealed, and so it goes on to the first step that does.
	// It leaves decoder.step behind the last step that it took.
	decode(e *engine, sl *slot, rows []float32) error
}

var errNoPlan = errors.New("there is no plan: what is revealed depends on the network's rows; leave out --scores raw and --draw float32-gumbel")

// decoder is what the slot of a sequence keeps where there is no plan.
type decoder struct {
	kernel kernel
	// u are uniforms and survival the probability of being masked up to now, by position
	// of the canvas.
	u, survival []float64
	masked      []int
	step        int
	// mass are the logarithms of Σ e^row of the masked positions.
	mass     []float64
	revealed []hit
}

// hit is a position that a step reveals, with the number of its row and its token.
type hit struct {
	row, position, token int
	lambda               float64
}

func (d *decoder) start(k kernel, canvas []int64, free []int, st *Stream) {
	d.kernel, d.step = k, 0
	d.masked = append(d.masked[:0], free...)
	d.u, d.survival = d.u[:0], d.survival[:0]
	for range canvas {
		d.u, d.survival = append(d.u, 0), append(d.survival, 1)
	}
	for _, l := range free {
		d.u[l] = st.Float64()
	}
}

// next is the block of the next step's call: all masked positions, of which the call will
// reveal some. It returns false when nothing is masked or no step is left.
func (d *decoder) next() (Block, bool) {
	grid := d.kernel.grid()
	if len(d.masked) == 0 || d.step == grid.Steps() {
		return Block{}, false
	}
	return Block{Positions: d.masked, Lambda: grid.Lambda[d.step], Theta: grid.Theta[d.step], Step: d.step}, true
}

// decode draws the tokens of what a step of a slot reveals and narrows its block to that.
func (e *engine) decode(sl *slot, rows []float32) error {
	d := &sl.decoder
	d.revealed = d.revealed[:0]
	if err := d.kernel.decode(e, sl, rows); err != nil {
		return fmt.Errorf("samplers: sequence %d, %w", sl.index, err)
	}
	slices.SortFunc(d.revealed, func(a, b hit) int { return cmp.Or(cmp.Compare(b.lambda, a.lambda), a.position-b.position) })
	grid, k := d.kernel.grid(), d.step-1
	b := Block{Lambda: grid.Lambda[k], Theta: grid.Theta[k], Step: k}
	for _, h := range d.revealed {
		b.Positions, b.Hits = append(b.Positions, h.position), append(b.Hits, h.lambda)
		e.tokens = append(e.tokens, h.token)
	}
	sl.block = b
	d.masked = slices.DeleteFunc(d.masked, func(l int) bool { return slices.Contains(b.Positions, l) })
	return nil
}
