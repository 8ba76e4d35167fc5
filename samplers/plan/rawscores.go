package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// RawLaw is the law of a grid sampler for the scores of a score network that are not normalised. A masked
// position of mass c = Σ_a s(a)/r, where s are the row's scores and r = α/(1−α), is revealed at the rate
// c·r. The row is frozen at the start of a step. If p_k is the sampler's own reveal probability, the
// position stays masked in the step with probability (1−p_k)^c, which is (λ_{k+1}/λ_k)^c for truncated
// τ-leaping (Dmitriev et al., arXiv 2602.15008) and e^(−c·h) for τ-leaping, and with 1−c·h under Euler.
// Its token has probability s(a)/Σs. c = 1 gives the sampler itself.
//
// Reveals depend on the network, so there is no plan: each step asks for the rows of all masked
// positions, unless the network is time-free and the canvas has not changed since the last call.
type RawLaw struct {
	// Steps are those of the sampler's own plan, for rows of mass 1.
	Steps schedule.Steps
	// denoise reports whether positions that the last step leaves masked are filled.
	denoise bool
}

// Scores selects how the rows of a score network are used.
type Scores string

// The values of Scores.
const (
	// ScoresNormalised divides a row by its mass. It is then a distribution of the clean token, and
	// reveals do not depend on it.
	ScoresNormalised Scores = "normalised"
	// ScoresRaw uses the mass as a factor of the rate.
	ScoresRaw Scores = "raw"
)

// Stays returns the probability that a position of mass c ≥ 0 stays masked in step k. It returns an
// error if the rule gives no probability, as may happen with Euler's.
func (r RawLaw) Stays(k int, c float64) (float64, error) {
	if !(c >= 0) || math.IsInf(c, 1) {
		return 0, fmt.Errorf("the mass of the scores is %v: must be finite", c)
	}
	p := r.Steps.Jump[k]
	switch {
	case r.Steps.Rule == schedule.RuleEuler:
		if c*p > 1+schedule.Slack {
			return 0, fmt.Errorf("euler: step %d reveals with probability %.6g, the scores having mass %.6g: use more steps or a larger delta", k, c*p, c)
		}
		return max(1-c*p, 0), nil
	case p >= 1:
		return 0, nil
	}
	return math.Exp(c * math.Log1p(-p)), nil
}

// Law returns a law without a plan.
func (RawLaw) Law() samplers.Law {
	return samplers.Law{Why: "reveals depend randomly on the rows"}
}

// Denoises reports whether positions that the last step leaves masked are filled.
func (r RawLaw) Denoises() bool { return r.denoise }

// Head returns HeadRows, since the mass of a row is needed.
func (RawLaw) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

// MostCalls returns one call for each step that can make one, and one to finish.
func (r RawLaw) MostCalls(c samplers.Spec, d, _ int) int {
	if c.TimeConditioned {
		return r.Steps.Grid.Steps() + 1
	}
	return min(r.Steps.Grid.Steps(), d) + 1
}

// Fill starts to fill the masked positions free.
func (r RawLaw) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	if c.Spec().LogMass == nil {
		return nil, errors.New("raw scores: the mass of a row is not known: set LogMass")
	}
	return &raw{law: r, grid: r.Steps.Grid, canvas: c, draws: d, masked: free, survival: make(map[int]float64)}, nil
}

// raw is the decoder for raw scores. It asks for the rows of all masked positions; if the network
// is time-free, only when the canvas has changed.
type raw struct {
	law    RawLaw
	grid   schedule.Grid
	canvas *samplers.Canvas
	draws  *draw.Numbers
	masked []int
	// step is the next step. finishing reports whether positions that the last step left are being
	// filled.
	step      int
	finishing bool
	// survival is the probability of being masked up to now, by position. mass holds the logarithms
	// of Σ e^row of the masked positions.
	survival map[int]float64
	mass     []float64
}

// hit is a position that a step reveals at a masked fraction, with the number of its row.
type hit struct {
	row, position int
	lambda        float64
}

func (d *raw) Ask(a *samplers.Ask) bool {
	if len(d.masked) == 0 || d.finishing {
		return false
	}
	a.Step = d.step
	if d.step == d.grid.Steps() {
		if !d.law.denoise {
			return false
		}
		d.finishing, a.Finish, a.Step = true, true, -1
	}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: d.masked, Theta: d.grid.Theta[d.step]})
	return true
}

// Take draws the tokens of the positions that the step reveals, in the order of their times, or of
// all that the steps left.
func (d *raw) Take(r samplers.Rows, e *samplers.Edit) error {
	revealed, err := d.reveal(r)
	if err != nil {
		return err
	}
	for _, h := range revealed {
		token, logP, err := r.Token(0, h.row, d.draws.Token(h.position))
		if err != nil {
			return fmt.Errorf("position %d: %w", h.position, err)
		}
		e.Set(h.position, token, logP)
		if !d.finishing {
			e.Hit(h.lambda)
		}
	}
	d.masked = slices.DeleteFunc(d.masked, d.canvas.HoldsToken)
	return nil
}

// reveal finds the positions that the step reveals. A position is revealed when its survival, the
// product of the probabilities of its steps, falls to its uniform or below; given that it was
// masked before, this has the probability of the step. With mass 1 it is revealed in the same step
// as by the sampler's own plan with the same seed. Rows of a time-free network hold until something
// is revealed, so reveal proceeds to the first step that does.
func (d *raw) reveal(r samplers.Rows) (revealed []hit, err error) {
	d.mass = d.mass[:0]
	for i, l := range d.masked {
		if d.finishing {
			revealed = append(revealed, hit{row: i, position: l})
			continue
		}
		norm, err := r.LogSum(0, i)
		if err != nil {
			return nil, fmt.Errorf("position %d: %w", l, err)
		}
		d.mass = append(d.mass, norm)
	}
	for spec := d.canvas.Spec(); !d.finishing && len(revealed) == 0 && d.step < d.grid.Steps(); {
		k := d.step
		d.step++
		for i, l := range d.masked {
			stays, err := d.law.Stays(k, math.Exp(spec.LogMass(d.mass[i], d.grid.Theta[k])))
			if err != nil {
				return nil, fmt.Errorf("position %d: %w", l, err)
			}
			before, ok := d.survival[l]
			if !ok {
				before = 1
			}
			after, u := before*stays, d.draws.Plan(l)
			d.survival[l] = after
			if u >= after {
				inside := (u - after) / (before - after)
				revealed = append(revealed, hit{row: i, position: l, lambda: d.grid.Lambda[k+1] + inside*(d.grid.Lambda[k]-d.grid.Lambda[k+1])})
			}
		}
		if spec.TimeConditioned {
			break
		}
	}
	slices.SortFunc(revealed, func(a, b hit) int { return cmp.Or(cmp.Compare(b.lambda, a.lambda), a.position-b.position) })
	return revealed, nil
}
