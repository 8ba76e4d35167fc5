package remask

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"
)

// WINO describes the sampler.
var WINO = samplers.Descriptor{
	Kind:    samplers.ByRemasking,
	Name:    "wino",
	Aliases: []string{"wide-in-narrow-out"},
	Summary: "all fairly confident positions; masks again those that the other tokens do not support",
	Law: "A call draws a token at each of m masked positions. It reveals the positions with a probability above threshold, and always the most confident one, but at most 20 and at most 0.7m (or 5 if 0.7m is less). " +
		"If it reveals two or more, it masks earlier tokens again whose probability in the row of the canvas without them is below threshold-back: the least confident first, and fewer than the previous call revealed. Probabilities are the network's, at temperature 1. " +
		"WINO's program verifies all tokens of a block beside the canvas, in rows whose other positions have seen the token; here each token has a canvas of its own. Changes the distribution.",
	Calls:  "1 to d",
	Cost:   "At most d calls, each of one canvas plus one for each revealed position of the block.",
	Source: "Hong et al., arXiv 2507.18578 (WINO), decoding_wino.",
	Flags:  []string{"threshold", "threshold-back"},
	Edits:  true,
}

// NewWINO makes the sampler, and sets the thresholds to the values in effect; the defaults are WINO's.
func NewWINO(threshold, back *float64) samplers.Kernel {
	*threshold, *back = cmp.Or(*threshold, 0.6), cmp.Or(*back, 0.9)
	return drafting{*threshold, *back}
}

// drafting is the law of WINO (Hong et al., arXiv 2507.18578): wide drafts, which later calls
// verify given the tokens revealed after them.
type drafting struct{ threshold, back float64 }

func (drafting) Law() samplers.Law { return samplers.Unknown{Why: "it masks again what it revealed"} }

func (drafting) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

// MostCalls returns d, since a call masks fewer positions than the previous call revealed.
func (drafting) MostCalls(_ samplers.Spec, d, _ int) int { return d }

func (law drafting) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	v := c.Spec().Vocabulary
	v.Excluded = slices.Concat(v.Excluded, c.Categorical().Suppressed())
	own, err := draw.NewCategorical(v, draw.Settings{})
	return &drafted{law: law, canvas: c, draws: d, free: free, own: own, revealed: firstRevealed}, err
}

// The bounds in WINO's program: on the number of reveals in a call, and the number that the first
// call assumes the previous one to have made.
const (
	leastDrafts, mostDrafts = 5, 20
	firstRevealed           = 30
)

// drafted is the decoder of a sequence.
type drafted struct {
	law    drafting
	canvas *samplers.Canvas
	draws  *draw.Numbers
	free   []int
	own    *draw.Categorical // the network's probabilities
	calls  int
	// revealed is the number of positions that the last call revealed.
	revealed int
	// masked and shown are the free positions of the call, and canvases its canvases besides the
	// sequence's own.
	masked, shown []int
	canvases      []int64
}

// Report adds the number of calls.
func (d *drafted) Report(r *samplers.Result) { r.RuleCalls += d.calls }

func (d *drafted) Ask(a *samplers.Ask) bool {
	d.masked, d.shown = d.masked[:0], d.shown[:0]
	for _, l := range d.free {
		if d.canvas.IsMasked(l) {
			d.masked = append(d.masked, l)
		} else {
			d.shown = append(d.shown, l)
		}
	}
	if len(d.masked) == 0 {
		return false
	}
	theta := func(masked int) float64 { return d.canvas.Theta(float64(masked) / float64(len(d.free))) }
	a.Step = d.calls
	a.Rows = append(a.Rows, samplers.AskRow{Positions: d.masked, Theta: theta(len(d.masked))})
	d.canvases = slices.Grow(d.canvases[:0], len(d.shown)*d.canvas.Len())
	for i, l := range d.shown {
		from := len(d.canvases)
		d.canvases = append(d.canvases, d.canvas.IDs()...)
		d.canvases[from+l] = int64(d.canvas.Spec().Mask)
		a.Rows = append(a.Rows, samplers.AskRow{Canvas: d.canvases[from:], Positions: d.shown[i : i+1], Theta: theta(len(d.masked) + 1)})
	}
	return true
}

func (d *drafted) Take(r samplers.Rows, e *samplers.Edit) error {
	var drafts []choice
	for i, l := range d.masked {
		token, logP, err := r.Token(0, i, d.draws.Call(l, d.calls))
		c := choice{position: l, token: token, logP: logP}
		if err == nil {
			err = d.rate(&c, r.Row(0, i))
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		drafts = append(drafts, c)
	}
	standing, err := d.verify(r)
	if err == nil {
		d.commit(drafts, standing, e)
	}
	return err
}

// verify scores the tokens on the canvas, each given the others.
func (d *drafted) verify(r samplers.Rows) (standing []choice, err error) {
	for i, l := range d.shown {
		c := choice{position: l, token: d.canvas.ID(l)}
		if err := d.rate(&c, r.Row(1+i, 0)); err != nil {
			return nil, fmt.Errorf("position %d: %w", l, err)
		}
		standing = append(standing, c)
	}
	return standing, nil
}

// rate sets the score of a token to its probability.
func (d *drafted) rate(c *choice, row draw.Row) error {
	norm, err := d.own.LogSum(row)
	c.score = math.Exp(row.At(c.token) - norm)
	c.key = math.Round(c.score*(1/tie)) * tie
	return err
}

// commit reveals drafts, and masks earlier tokens that are doubted.
func (d *drafted) commit(drafts, standing []choice, e *samplers.Edit) {
	d.calls++
	slices.SortFunc(drafts, byKey)
	most, n := min(max(len(drafts)*7/10, leastDrafts), mostDrafts), 1
	for n < min(most, len(drafts)) && drafts[n].score > d.law.threshold {
		n++
	}
	placed := 0 // less than n if tokens are refused, which the first never is
	for _, c := range drafts[:n] {
		e.Set(c.position, c.token, c.logP)
		if d.canvas.HoldsToken(c.position) {
			placed++
		}
	}
	doubted := slices.DeleteFunc(standing, func(c choice) bool { return c.score >= d.law.back })
	slices.SortFunc(doubted, func(a, b choice) int { return cmp.Or(cmp.Compare(a.key, b.key), a.position-b.position) })
	if n == 1 {
		doubted = nil
	}
	for _, c := range doubted[:min(len(doubted), d.revealed-1)] {
		e.Mask(c.position)
	}
	d.revealed = placed
}

// Enumerates reports that outcomes are enumerated.
func (drafting) Enumerates() bool { return true }

// Enumerate enumerates all tokens that the calls may draw.
func (law drafting) Enumerate(w *exact.Walk, c *samplers.Canvas) error {
	return exact.Through(w, law, c, func(b *exact.Branches[*drafted], d *drafted, p float64) error { return d.branch(b, p) })
}

// branch enumerates the draws of the next call.
func (d *drafted) branch(o *exact.Branches[*drafted], p float64) error {
	var a samplers.Ask
	if !d.Ask(&a) {
		o.End(d.canvas.IDs(), p)
		return nil
	}
	o.Calls += p
	rows, err := o.Rows(d.canvas, &a)
	if err != nil {
		return err
	}
	standing, err := d.verify(rows)
	options, q := make([][]choice, len(d.masked)), make([]float64, rows.Columns())
	for i, l := range d.masked {
		if err == nil {
			err = rows.Probabilities(q, 0, i)
		}
		for token, p := range q {
			if err == nil && p > 0 {
				c := choice{position: l, token: token, logP: math.Log(p)}
				err = d.rate(&c, rows.Row(0, i))
				options[i] = append(options[i], c)
			}
		}
	}
	if err != nil {
		return err
	}
	return exact.EachDraw(options, p, func(c choice) float64 { return math.Exp(c.logP) }, func(drawn []choice, p float64) error {
		next := *d
		next.masked, next.shown, next.canvases = nil, nil, nil
		var e *samplers.Edit
		next.canvas, e = d.canvas.Fork(d.canvas.IDs())
		next.commit(slices.Clone(drawn), slices.Clone(standing), e)
		return o.Add(next.calls, fmt.Sprint(next.canvas.IDs(), next.revealed), &next, p)
	})
}
