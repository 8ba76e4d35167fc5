package samplers

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// rawKernel is the law of a grid sampler for score networks as they are, not
// normalised. A masked position of mass c = Σ_a s(a)/r, s being the row's scores and
// r = α/(1−α), leaves its mask at the rate c·r. With the row frozen at the start of a step
// it stays masked in the step with probability (1−p_k)^c where the sampler's own reveal
// probability is p_k: (λ_{k+1}/λ_k)^c for truncated τ-leaping (Dmitriev et al., arXiv
// 2602.15008) and e^(−c·h) for τ-leaping, and with 1−c·h under Euler. Its token has
// probability s(a)/Σs. c = 1 is the sampler itself.
//
// What is revealed depends on the network, and so there is no plan: each step asks for
// the rows of all masked positions, unless the network has no time and the canvas did not
// change since the last call.
type rawKernel struct{ steps Steps }

// Scores says what is made of the rows of a score network.
type Scores string

// The readings of scores.
const (
	// ScoresNormalised divides a row by its mass: it is then a distribution of the clean
	// token, and reveals do not depend on it.
	ScoresNormalised Scores = "normalised"
	// ScoresRaw takes the mass as a factor of the rate.
	ScoresRaw Scores = "raw"
)

var errNoPlan = errors.New("raw scores have no plan: what is revealed depends on the network's rows; use normalised ones")

func (rawKernel) plan(*Plan) error { return errNoPlan }

func (rawKernel) calls(int) (blocks, left float64, err error) { return 0, 0, errNoPlan }

// stays returns the probability that a position of mass c stays masked in step k.
func (r rawKernel) stays(k int, c float64) (float64, error) {
	if !(c >= 0) || math.IsInf(c, 1) {
		return 0, fmt.Errorf("the mass of the scores is %v: must be finite", c)
	}
	p := r.steps.Jump[k]
	switch {
	case r.steps.Rule == RuleEuler:
		if c*p > 1+rounding {
			return 0, fmt.Errorf("euler: step %d reveals with probability %.6g, the scores having mass %.6g: use more steps or a larger delta", k, c*p, c)
		}
		return max(1-c*p, 0), nil
	case p >= 1:
		return 0, nil
	}
	return math.Exp(c * math.Log1p(-p)), nil
}

// decoder is what the slot of a sequence keeps where there is no plan. A position is
// revealed when its survival, the product of the probabilities of its steps, falls to
// its uniform or below: given that it was not before, that has the probability of the
// step. Of mass 1 it is revealed in the step in which the sampler's own plan of the same
// seed has it.
type decoder struct {
	kernel *rawKernel
	// u and survival are by position of the canvas.
	u, survival []float64
	masked      []int
	step        int
	// mass are the logarithms of Σ e^row of the masked positions.
	mass     []float64
	revealed []hit
}

// hit is a position that a step reveals, with the row that names its token.
type hit struct {
	row, position int
	lambda        float64
}

func (d *decoder) start(k *rawKernel, canvas []int64, free []int, st *Stream) {
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
	grid := d.kernel.steps.Grid
	if len(d.masked) == 0 || d.step == grid.Steps() {
		return Block{}, false
	}
	return Block{Positions: d.masked, Lambda: grid.Lambda[d.step], Theta: grid.Theta[d.step], Step: d.step}, true
}

// reveal finds what the step reveals, given the log-mass of the row of each masked
// position at −log α = θ. Without time it goes on to the first step that reveals something.
func (d *decoder) reveal(timed bool, logMass func(norm, theta float64) float64) error {
	grid := d.kernel.steps.Grid
	d.revealed = d.revealed[:0]
	for {
		k := d.step
		d.step++
		for i, l := range d.masked {
			stays, err := d.kernel.stays(k, math.Exp(logMass(d.mass[i], grid.Theta[k])))
			if err != nil {
				return fmt.Errorf("position %d: %w", l, err)
			}
			before := d.survival[l]
			after := before * stays
			d.survival[l] = after
			if d.u[l] >= after {
				inside := (d.u[l] - after) / (before - after)
				d.revealed = append(d.revealed, hit{i, l, grid.Lambda[k+1] + inside*(grid.Lambda[k]-grid.Lambda[k+1])})
			}
		}
		if timed || len(d.revealed) > 0 || d.step == grid.Steps() {
			break
		}
	}
	slices.SortFunc(d.revealed, func(a, b hit) int { return cmp.Or(cmp.Compare(b.lambda, a.lambda), a.position-b.position) })
	return nil
}

// decode draws the tokens of what the step of a slot reveals and narrows its block
// to that.
func (e *engine) decode(sl *slot, rows []float32) error {
	d, columns := &sl.decoder, e.cfg.Vocabulary.Columns
	d.mass = d.mass[:0]
	for i, l := range d.masked {
		norm, err := e.category.logSum(rows[i*columns : (i+1)*columns])
		if err != nil {
			return fmt.Errorf("samplers: sequence %d, position %d: %w", sl.index, l, err)
		}
		d.mass = append(d.mass, norm)
	}
	if err := d.reveal(e.cfg.TimeConditioned, e.cfg.LogMass); err != nil {
		return fmt.Errorf("samplers: sequence %d, %w", sl.index, err)
	}
	grid := d.kernel.steps.Grid
	k := d.step - 1
	b := Block{Lambda: grid.Lambda[k], Theta: grid.Theta[k], Step: k}
	for _, h := range d.revealed {
		token, err := e.category.Token(rows[h.row*columns:(h.row+1)*columns], sl.w[h.position])
		if err != nil {
			return fmt.Errorf("samplers: sequence %d, position %d: %w", sl.index, h.position, err)
		}
		b.Positions, b.Hits = append(b.Positions, h.position), append(b.Hits, h.lambda)
		e.tokens = append(e.tokens, token)
	}
	sl.block = b
	d.masked = slices.DeleteFunc(d.masked, func(l int) bool { return slices.Contains(b.Positions, l) })
	return nil
}

// logSum returns log Σ e^x over the columns that may get probability, in float64,
// whatever the temperature. Errors are [Categorical.Token]'s.
func (c *Categorical) logSum(row []float32) (float64, error) {
	top, _, err := c.top(row)
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, s := range c.allowed {
		for _, x := range row[s.from:s.to] {
			sum += math.Exp(float64(x) - float64(top))
		}
	}
	return float64(top) + math.Log(sum), nil
}
