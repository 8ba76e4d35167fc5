package samplers

import (
	"fmt"
	"math"
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

func (rawKernel) plan(*Plan) error { return errNoPlan }

func (rawKernel) calls(int) (blocks, left float64, err error) { return 0, 0, errNoPlan }

func (r rawKernel) grid() Grid { return r.steps.Grid }

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

// decode finds what is revealed given the log-mass of the row of each masked position,
// and draws its tokens.
func (r rawKernel) decode(e *engine, sl *slot, rows []float32) error {
	d, columns := &sl.decoder, e.cfg.Vocabulary.Columns
	d.mass = d.mass[:0]
	for i, l := range d.masked {
		norm, err := e.category.logSum(rows[i*columns : (i+1)*columns])
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		d.mass = append(d.mass, norm)
	}
	if err := r.reveal(d, e.cfg.TimeConditioned, e.cfg.LogMass); err != nil {
		return err
	}
	for i := range d.revealed {
		h := &d.revealed[i]
		token, err := e.category.Token(rows[h.row*columns:(h.row+1)*columns], sl.w[h.position])
		if err != nil {
			return fmt.Errorf("position %d: %w", h.position, err)
		}
		h.token = token
	}
	return nil
}

// reveal finds what the step reveals. A position is revealed when its survival, the
// product of the probabilities of its steps, falls to its uniform or below: given that it
// was not before, that has the probability of the step. Of mass 1 it is revealed in the
// step in which the sampler's own plan of the same seed has it.
func (r rawKernel) reveal(d *decoder, timed bool, logMass func(norm, theta float64) float64) error {
	grid := r.steps.Grid
	for {
		k := d.step
		d.step++
		for i, l := range d.masked {
			stays, err := r.stays(k, math.Exp(logMass(d.mass[i], grid.Theta[k])))
			if err != nil {
				return fmt.Errorf("position %d: %w", l, err)
			}
			before := d.survival[l]
			after := before * stays
			d.survival[l] = after
			if d.u[l] >= after {
				inside := (d.u[l] - after) / (before - after)
				d.revealed = append(d.revealed, hit{row: i, position: l, lambda: grid.Lambda[k+1] + inside*(grid.Lambda[k]-grid.Lambda[k+1])})
			}
		}
		if timed || len(d.revealed) > 0 || d.step == grid.Steps() {
			break
		}
	}
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
