package remask

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"
)

// P2 describes the sampler.
var P2 = Sampler{New: newP2, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRemasking,
	Name:    "p2",
	Aliases: []string{"path-planning"},
	Summary: "keeps the most confident tokens and masks the others, a fixed number per step",
	Law: "N calls, each for all n free positions. A token is drawn at each masked position. Positions are scored by the log-probability of that token, or eta times that of the token already there. " +
		"After call i, the ⌊n(1−i/N)⌋ positions with the lowest scores are masked, whether they were before or not; among equals, the leftmost are kept. Scores use the probabilities with which tokens are drawn; at temperature 0, they are computed at temperature 1. A larger eta masks more tokens again. " +
		"Some networks give no distribution at revealed positions; there, nothing is masked again. Changes the distribution. P2's own program also adds the noise of its draws to the scores, which gives another distribution.",
	Calls:  "N",
	Cost:   "N network calls for the rows of all free positions; final calls that can change nothing are omitted.",
	Source: "Peng et al., arXiv 2502.03540 (P2), self-planning.",
	Flags:  []string{"steps", "eta"},
	Edits:  true,
}}

// pathPlanning is the law of P2's self-planning (Peng et al., arXiv 2502.03540). Each of N calls asks
// about all free positions and draws a token at the masked ones. Positions are scored by the
// log-probability of that token, or by η times that of the token on the canvas. After call i the
// ⌊n(1−i/N)⌋ of the n free positions with the lowest scores are masked, whether they were before or not.
type pathPlanning struct {
	steps int
	eta   float64
}

func (law pathPlanning) Law() samplers.Law {
	return samplers.Unknown{Why: "it masks again what it revealed"}
}

// ExpectedCalls counts the steps up to the first that leaves nothing masked.
func (law pathPlanning) ExpectedCalls(d int) (calls, finish float64, err error) {
	if d == 0 {
		return 0, 0, nil
	}
	return float64(law.steps - (law.steps+d-1)/d + 1), 0, nil
}

func newP2(o *Options, b samplers.Build) (_ samplers.Kernel, changesLaw bool, err error) {
	o.Eta, *b.Steps = cmp.Or(o.Eta, 1), cmp.Or(*b.Steps, samplers.DefaultSteps)
	return pathPlanning{steps: *b.Steps, eta: o.Eta}, true, nil
}

func (pathPlanning) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

func (law pathPlanning) MostCalls(samplers.Spec, int, int) int { return law.steps }

func (law pathPlanning) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	warm := c.Categorical().Settings()
	if warm.AtTemperature() == 0 {
		warm.Temperature = nil
	}
	score, err := c.Categorical().With(warm, c.Categorical().By())
	return &pathPlanned{law: law, canvas: c, draws: d, free: free, score: score}, err
}

// choice is a position with its token. key, the rounded score, orders choices.
type choice struct {
	position, token  int
	logP, score, key float64
}

// tie is the distance below which two scores count as equal: a power of two.
const tie = 0x1p-40

// byKey orders by decreasing key, then by increasing position.
func byKey(a, b choice) int { return cmp.Or(cmp.Compare(b.key, a.key), a.position-b.position) }

// pathPlanned is the decoder of a sequence.
type pathPlanned struct {
	law    pathPlanning
	canvas *samplers.Canvas
	draws  *draw.Numbers
	free   []int
	calls  int
	// score computes the probabilities by which positions are scored, and p holds those of a row.
	score  draw.Categorical
	p      []float64
	scored []choice
}

// stays returns the number of positions that are masked after a call.
func (d *pathPlanned) stays(call int) int {
	return len(d.free) * (d.law.steps - call) / d.law.steps
}

// over reports whether no more call can change anything.
func (d *pathPlanned) over() bool {
	return d.calls == d.law.steps || d.stays(d.calls+1) == 0 && !slices.ContainsFunc(d.free, d.canvas.IsMasked)
}

// Report counts all calls of the rule, including those that cannot change anything.
func (d *pathPlanned) Report(r *samplers.Result) {
	if len(d.free) > 0 {
		r.RuleCalls += d.law.steps
	}
}

func (d *pathPlanned) Ask(a *samplers.Ask) bool {
	if d.over() {
		return false
	}
	n := 0
	for _, l := range d.free {
		if d.canvas.IsMasked(l) {
			n++
		}
	}
	a.Step = d.calls
	a.Rows = append(a.Rows, samplers.AskRow{Positions: d.free, Theta: d.canvas.Theta(float64(n) / float64(len(d.free)))})
	return true
}

func (d *pathPlanned) Take(r samplers.Rows, e *samplers.Edit) error {
	d.scored = d.scored[:0]
	for i, l := range d.free {
		c := choice{position: l, token: d.canvas.ID(l)}
		var err error
		if d.canvas.IsMasked(l) {
			c.token, c.logP, err = r.Token(0, i, d.draws.Call(l, d.calls))
		}
		if err == nil {
			err = d.rate(&c, r.Row(0, i))
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		d.scored = append(d.scored, c)
	}
	d.commit(d.scored, e)
	return nil
}

// rate scores a position. A token for which the network has no distribution is kept.
func (d *pathPlanned) rate(c *choice, row draw.Row) error {
	d.p = slices.Grow(d.p[:0], row.Len())[:row.Len()]
	revealed := !d.canvas.IsMasked(c.position)
	err := d.score.Probabilities(d.p, row)
	switch {
	case revealed && errors.Is(err, draw.ErrNoMass):
		return nil
	case err != nil:
		return err
	}
	c.score = math.Log(d.p[c.token])
	if revealed {
		c.score *= d.law.eta
	}
	c.key = math.Round(c.score*(1/tie)) * tie
	return nil
}

// commit masks the positions with the lowest scores, and fills the others.
func (d *pathPlanned) commit(scored []choice, e *samplers.Edit) {
	d.calls++
	slices.SortFunc(scored, byKey)
	kept := len(scored) - d.stays(d.calls)
	for i, c := range scored {
		switch masked := d.canvas.IsMasked(c.position); {
		case i < kept && masked:
			e.Set(c.position, c.token, c.logP)
		case i >= kept && !masked:
			e.Mask(c.position)
		}
	}
}

// Enumerates reports that outcomes are enumerated.
func (pathPlanning) Enumerates() bool { return true }

// Enumerate enumerates all tokens that the calls may draw.
func (law pathPlanning) Enumerate(w *exact.Walk, c *samplers.Canvas) error {
	return exact.Through(w, law, c, func(b *exact.Branches[*pathPlanned], d *pathPlanned, p float64) error { return d.branch(b, p) })
}

// branch enumerates the draws of the next call.
func (d *pathPlanned) branch(o *exact.Branches[*pathPlanned], p float64) error {
	var a samplers.Ask
	if !d.Ask(&a) {
		if len(d.free) > 0 {
			o.Calls += p * float64(d.law.steps-d.calls)
		}
		o.End(d.canvas.IDs(), p)
		return nil
	}
	o.Calls += p
	rows, err := o.Rows(d.canvas, &a)
	if err != nil {
		return err
	}
	options := make([][]choice, len(d.free))
	q := make([]float64, rows.Columns())
	for i, l := range d.free {
		if clear(q); d.canvas.IsMasked(l) {
			err = rows.Probabilities(q, 0, i)
		} else {
			q[d.canvas.ID(l)] = 1
		}
		for token, p := range q {
			if err == nil && p > 0 {
				c := choice{position: l, token: token, logP: math.Log(p)}
				err = d.rate(&c, rows.Row(0, i))
				options[i] = append(options[i], c)
			}
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
	}
	return exact.EachDraw(options, p, func(c choice) float64 { return math.Exp(c.logP) }, func(drawn []choice, p float64) error {
		next := *d
		var e *samplers.Edit
		next.canvas, e = d.canvas.Fork(d.canvas.IDs())
		next.commit(slices.Clone(drawn), e)
		return o.Add(next.calls, fmt.Sprint(next.canvas.IDs()), &next, p)
	})
}
