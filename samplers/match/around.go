package match

import (
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Rule requires the text of positions From..To, To excluded, to be in a language. If To is 0 the
// positions are those from the first mask to the last.
type Rule struct {
	Language *Language
	From, To int
}

// Around returns k with draws restricted by rules, whose positions must not overlap. k must draw
// from unmodified rows, and ask about masked positions only. ahead reports whether k asks about one
// position of each canvas and guesses the others. marginal reports whether k ranks positions by the
// log-probabilities of their tokens; these are then marginal, and otherwise given the tokens that
// the same call draws before.
func Around(k samplers.Kernel, rules []Rule, ahead, marginal bool) samplers.Kernel {
	return &restricted{Kernel: k, rules: rules, ahead: ahead, marginal: marginal}
}

// restricted is a kernel restricted to languages.
type restricted struct {
	samplers.Kernel
	rules           []Rule
	ahead, marginal bool
}

// Head returns HeadRows, since tokens are drawn from rows here.
func (*restricted) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

func (*restricted) Law() samplers.Law {
	return samplers.Unknown{Why: "tokens are restricted to those that can still match given all masks together, which sums over plans ignore"}
}

// Fill starts to fill positions inside the languages.
func (k *restricted) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	out := &decoder{law: k, canvas: c}
	plain, err := c.Categorical().With(draw.Settings{SuppressTokens: c.Categorical().Settings().SuppressTokens}, draw.ByInverse)
	if err != nil {
		return nil, err
	}
	for _, r := range k.rules {
		if r.To == 0 && len(free) > 0 {
			r.From, r.To = free[0], free[len(free)-1]+1
		}
		j := &joint{sets: newSets(r.Language), law: c.Categorical(), plain: &plain, mask: int64(c.Spec().Mask), from: r.From, to: r.To}
		if !j.look(c.IDs()) {
			return nil, r.misfit()
		}
		out.regions = append(out.regions, j)
	}
	out.Decoder, err = k.Kernel.Fill(c, d, free)
	return out, err
}

// misfit returns the error for a pattern without a text on the given positions.
func (r Rule) misfit() error {
	n := r.To - r.From
	if r.Language.least > n {
		return fmt.Errorf("pattern %.60q needs at least %d tokens, but has %d positions: give it more, or give a shorter pattern", r.Language.pattern, r.Language.least, n)
	}
	return fmt.Errorf("pattern %.60q matches no text of %d tokens that keeps the given tokens: change the length, or allow more texts", r.Language.pattern, n)
}

// decoder is the decoder of a sequence.
type decoder struct {
	samplers.Decoder
	law     *restricted
	canvas  *samplers.Canvas
	regions []*joint
	// asked is the inner decoder's request.
	asked samplers.Ask
	ids   []int64
}

func (d *decoder) Ask(a *samplers.Ask) bool {
	if !d.Decoder.Ask(a) {
		return false
	}
	rows := append(d.asked.Rows[:0], a.Rows...)
	d.asked = *a
	d.asked.Rows = rows
	a.Head, a.Top, a.WithRows = samplers.HeadRows, 0, false
	return true
}

func (d *decoder) Take(r samplers.Rows, e *samplers.Edit) error {
	data, best := make([]draw.Row, len(d.asked.Rows)), make([][]draw.Result, len(d.asked.Rows))
	for i, asked := range d.asked.Rows {
		best[i] = make([]draw.Result, len(asked.Positions))
		all := make([]wanted, len(asked.Positions))
		for n, l := range asked.Positions {
			all[n] = wanted{position: l, row: r.Row(i, n), to: &best[i][n], read: d.asked.WithRows}
			if asked.Uniforms != nil {
				all[n].uniform = asked.Uniforms[n]
			}
		}
		d.draw(asked, all, r.Categorical())
		for n := range all {
			if d.asked.WithRows {
				data[i] = data[i].Append(all[n].shaped)
			}
		}
	}
	return d.Decoder.Take(samplers.NewRows(r.Columns(), data, best, r.Categorical()), e)
}

// draw draws the requested tokens of a canvas: independently outside the regions, and jointly
// inside each.
func (d *decoder) draw(asked samplers.AskRow, all []wanted, law *draw.Categorical) {
	groups := make([][]*wanted, len(d.regions))
	for n := range all {
		w := &all[n]
		i := slices.IndexFunc(d.regions, func(j *joint) bool { return w.position >= j.from && w.position < j.to })
		if i < 0 {
			w.to.Best, w.to.Err = law.Best(w.row, w.uniform, d.asked.Top)
			if w.read {
				w.shaped = double(w.row)
			}
			continue
		}
		groups[i] = append(groups[i], w)
	}
	for i, group := range groups {
		j := d.regions[i]
		// The call that fills the rest at the end selects the likeliest tokens.
		j.cold = law.Settings().AtTemperature() == 0 || d.asked.Finish && d.asked.Top > 0
		j.top, j.marginal = d.asked.Top, d.law.marginal
		slices.SortFunc(group, func(a, b *wanted) int { return a.position - b.position })
		size := max(len(group), 1)
		if d.law.ahead {
			size = 1
		}
		for part := range slices.Chunk(group, size) {
			d.ids = append(d.ids[:0], asked.Seen(d.canvas, part[0].position)...)
			if err := j.draw(d.ids, part); err != nil {
				for _, w := range part {
					w.to.Err = fmt.Errorf("within pattern %.60q, %w", j.pattern, err)
				}
			}
		}
	}
}

// double returns a copy of a row in float64.
func double(row draw.Row) draw.Row {
	x := make([]float64, row.Len())
	for t := range x {
		x[t] = row.At(t)
	}
	return draw.Double(x)
}

func (d *decoder) Report(r *samplers.Result) { samplers.Report(d.Decoder, r) }
