package remask

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"
)

// Enumerates reports that outcomes are gone through.
func (*remdm) Enumerates() bool { return true }

// Enumerate goes through all that the steps may change.
func (law *remdm) Enumerate(w *exact.Walk, c *samplers.Canvas) error {
	if law.nucleus < 1 {
		return errors.New("nucleus-p is in force")
	}
	b := &exact.Branches[*remasked]{Walk: w}
	return b.Each(law.begin(c, draw.NewNumbers(0, 0), c.Masked(nil)), func(d *remasked, p float64) error { return d.branch(b, p) })
}

// branch goes through a step, or the end.
func (d *remasked) branch(o *exact.Branches[*remasked], p float64) error {
	b := remaskBranch{remasked: d, o: o, step: RemaskStep{Lambda: remaskEnd}, unsure: d.unsure(), laws: make(map[int][]float64), best: make(map[int]int64)}
	end := d.step == len(d.law.steps)
	if !end {
		b.step = d.law.steps[d.step]
	}
	if err := b.ask(); err != nil {
		return err
	}
	if end {
		ids := slices.Clone(d.ids)
		for l, token := range b.best {
			ids[l] = token
		}
		if len(b.best) > 0 {
			o.Calls += p
		}
		o.End(ids, p)
		return nil
	}
	b.ids, b.sure = slices.Clone(d.ids), maps.Clone(d.confidence)
	return b.change(0, p, false)
}

// remaskBranch is a step whose changes are gone through.
type remaskBranch struct {
	*remasked
	o      *exact.Branches[*remasked]
	step   RemaskStep
	unsure float64
	// laws are the distributions of the masked positions, best their likeliest tokens.
	laws map[int][]float64
	best map[int]int64
	// ids and sure are the canvas after the changes so far, and its confidences.
	ids  []int64
	sure map[int]float64
}

// ask reads the rows of the masked positions.
func (b *remaskBranch) ask() error {
	masked := b.allMasked()
	if len(masked) == 0 {
		return nil
	}
	c, _ := b.canvas.Fork(b.remasked.ids)
	rows, err := b.o.Rows(c, &samplers.Ask{Rows: []samplers.AskRow{{Positions: masked, Theta: b.canvas.Theta(b.step.Lambda)}}})
	if err != nil {
		return err
	}
	for i, l := range masked {
		best, err := rows.Categorical().Best(rows.Row(0, i), 0.5, 1)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		b.best[l], b.laws[l] = int64(best.Top[0].Token), make([]float64, rows.Columns())
		if err := rows.Probabilities(b.laws[l], 0, i); err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
	}
	return nil
}

// change goes through what may become of the free positions from number i on; reveals says
// that one before was revealed, so that there is a call.
func (b *remaskBranch) change(i int, p float64, reveals bool) error {
	if p == 0 {
		return nil
	}
	if i == len(b.free) {
		if reveals {
			b.o.Calls += p
		}
		return b.finish(p)
	}
	l := b.free[i]
	q := b.probability(b.step, l, b.unsure)
	if err := b.change(i+1, p*(1-q), reveals); err != nil {
		return err
	}
	was, sure := b.ids[l], b.sure[l]
	defer func() { b.ids[l], b.sure[l] = was, sure }()
	if !b.masked(l) {
		b.ids[l] = int64(b.canvas.Spec().Mask)
		return b.change(i+1, p*q, reveals)
	}
	for a, mu := range b.laws[l] {
		b.ids[l], b.sure[l] = int64(a), mu
		if err := b.change(i+1, p*q*mu, true); err != nil {
			return err
		}
	}
	return nil
}

// finish goes on behind the step.
func (b *remaskBranch) finish(p float64) error {
	if err := b.o.Take(); err != nil {
		return err
	}
	next := &remasked{law: b.law, canvas: b.canvas, free: b.free, ids: slices.Clone(b.ids), step: b.remasked.step + 1, confidence: make(map[int]float64)}
	if b.law.conf {
		for _, l := range b.free {
			if !next.masked(l) {
				next.confidence[l] = b.sure[l]
			}
		}
	}
	b.o.Add(next.step, fmt.Sprint(next.ids, next.confidence), next, p)
	return nil
}
