package remask

import (
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/exact"
)

// Enumerates reports that outcomes are enumerated.
func (*remdm) Enumerates() bool { return true }

// Enumerate enumerates all changes that the steps may make.
func (law *remdm) Enumerate(w *exact.Walk, c *samplers.Canvas) error {
	return exact.Through(w, law, c, func(b *exact.Branches[*remasked], d *remasked, p float64) error { return d.branch(b, p) })
}

// change is a possible change of a free position in a step: a token drawn with probability sure,
// MASK, or no change.
type change struct {
	token          int64
	p, sure        float64
	changes, draws bool
}

// branch enumerates a step, or the end.
func (d *remasked) branch(o *exact.Branches[*remasked], p float64) error {
	end := d.step == len(d.law.steps)
	step := RemaskStep{Lambda: remaskEnd}
	if !end {
		step = d.law.steps[d.step]
	}
	masked := d.allMasked()
	var rows samplers.Rows
	if len(masked) > 0 {
		c, _ := d.canvas.Fork(d.ids)
		var err error
		if rows, err = o.Rows(c, &samplers.Ask{Rows: []samplers.AskRow{{Positions: masked, Theta: d.canvas.Theta(step.Lambda)}}}); err != nil {
			return err
		}
	}
	if end {
		return d.branchEnd(o, rows, masked, p)
	}
	options, unsure, mu := make([][]change, len(d.free)), d.unsure(), make([]float64, d.canvas.Spec().Columns)
	for i, l := range d.free {
		q := d.probability(step, l, unsure)
		add := func(c change, p float64) {
			if c.p = p; p > 0 {
				options[i] = append(options[i], c)
			}
		}
		add(change{}, 1-q)
		if !d.masked(l) {
			add(change{token: int64(d.canvas.Spec().Mask), changes: true}, q)
			continue
		}
		if err := rows.Probabilities(mu, 0, slices.Index(masked, l)); err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		if d.law.nucleus < 1 {
			order, sum := d.kept(mu)
			for a := range mu {
				if slices.Contains(order, a) {
					mu[a] /= sum
				} else {
					mu[a] = 0
				}
			}
		}
		for a, p := range mu {
			add(change{token: int64(a), sure: p, changes: true, draws: true}, q*p)
		}
	}
	return exact.EachDraw(options, p, func(c change) float64 { return c.p }, func(all []change, p float64) error {
		if slices.ContainsFunc(all, func(c change) bool { return c.draws }) {
			o.Calls += p
		}
		return d.goOn(o, all, p)
	})
}

// branchEnd fills the remaining masks with the likeliest tokens.
func (d *remasked) branchEnd(o *exact.Branches[*remasked], rows samplers.Rows, masked []int, p float64) error {
	ids := slices.Clone(d.ids)
	for i, l := range masked {
		best, err := rows.Categorical().Best(rows.Row(0, i), 0.5, 1)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		ids[l] = int64(best.Top[0].Token)
	}
	if len(masked) > 0 {
		o.Calls += p
	}
	o.End(ids, p)
	return nil
}

// goOn continues after a step with its changes.
func (d *remasked) goOn(o *exact.Branches[*remasked], all []change, p float64) error {
	next := &remasked{law: d.law, canvas: d.canvas, free: d.free, ids: slices.Clone(d.ids), step: d.step + 1, confidence: make(map[int]float64)}
	for i, l := range d.free {
		sure := d.confidence[l]
		if c := all[i]; c.changes {
			next.ids[l], sure = c.token, c.sure
		}
		if d.law.conf && !next.masked(l) {
			next.confidence[l] = sure
		}
	}
	return o.Add(next.step, fmt.Sprint(next.ids, next.confidence), next, p)
}
