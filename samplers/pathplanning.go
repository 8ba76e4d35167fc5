package samplers

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers/draw"
)

// pathPlanning is the law of P2's self-planning (Peng et al., arXiv 2502.03540). Each of N calls
// asks about all free positions and draws a token where there is none. Positions are scored by the
// log-probability of that token, or, times η, of the one that stands there; then ⌊n(1−i/N)⌋ of the n
// free positions are masked after call i, those of the lowest scores, whether they were before or not.
type pathPlanning struct {
	unplanned
	steps int
	eta   float64
}

func (pathPlanning) declare() Law { return Law{Why: "it masks again what it revealed"} }

// plansPaths makes the sampler.
func (s *Sampler) plansPaths(o Options, _ Spec) error {
	law := pathPlanning{steps: cmp.Or(o.Steps, DefaultSteps), eta: cmp.Or(o.Eta, 1)}
	s.settings.Steps, s.settings.Eta, s.settings.ChangesLaw = law.steps, law.eta, true
	s.law = law
	return nil
}

func (law pathPlanning) mostCalls(Spec, int, int) int { return law.steps }

func (law pathPlanning) start(c *Canvas, d *draw.Draws, free []int, _ bool) (Decoder, error) {
	warm := c.law.Draw()
	if warm.AtTemperature() == 0 {
		warm.Temperature = nil
	}
	score, err := c.law.With(warm, c.law.By())
	return &pathPlanned{law: law, canvas: c, draws: d, free: free, score: score}, err
}

// pathPlanned is the decoder of a sequence.
type pathPlanned struct {
	law    pathPlanning
	canvas *Canvas
	draws  *draw.Draws
	free   []int
	calls  int
	// score has the probabilities that positions are scored by, p those of a row.
	score  draw.Categorical
	p      []float64
	scored []candidate
}

// stays is how many positions are masked after a call.
func (d *pathPlanned) stays(call int) int {
	return len(d.free) * (d.law.steps - call) / d.law.steps
}

// over says that no call can change anything any more.
func (d *pathPlanned) over() bool {
	return d.calls == d.law.steps || d.stays(d.calls+1) == 0 && !slices.ContainsFunc(d.free, d.canvas.masked)
}

// RuleCalls counts the calls that can change nothing too, which the rule makes.
func (d *pathPlanned) RuleCalls() int {
	if len(d.free) == 0 {
		return 0
	}
	return d.law.steps
}

func (d *pathPlanned) Ask(a *Ask) bool {
	if d.over() {
		return false
	}
	n := 0
	for _, l := range d.free {
		if d.canvas.masked(l) {
			n++
		}
	}
	a.Step = d.calls
	a.Rows = append(a.Rows, AskRow{Positions: d.free, Theta: d.canvas.theta(float64(n) / float64(len(d.free)))})
	return true
}

func (d *pathPlanned) Take(r Rows, e *Edit) error {
	d.scored = d.scored[:0]
	for i, l := range d.free {
		c := candidate{position: l, token: d.canvas.ID(l)}
		var err error
		if d.canvas.masked(l) {
			c.token, c.logP, err = r.Token(0, i, d.draws.Call(l, d.calls))
		}
		if err == nil {
			err = d.rate(&c, r.Logits(0, i))
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		d.scored = append(d.scored, c)
	}
	d.commit(d.scored, e)
	return nil
}

// rate scores a position. A token that the network says nothing of stays.
func (d *pathPlanned) rate(c *candidate, row []float32) error {
	d.p = slices.Grow(d.p[:0], len(row))[:len(row)]
	stands := !d.canvas.masked(c.position)
	err := d.score.Probabilities(d.p, row)
	switch {
	case stands && errors.Is(err, draw.ErrNoMass):
		return nil
	case err != nil:
		return err
	}
	c.score = math.Log(d.p[c.token])
	if stands {
		c.score *= d.law.eta
	}
	c.key = math.Round(c.score*(1/tie)) * tie
	return nil
}

// commit masks the positions of the lowest scores, and fills the others.
func (d *pathPlanned) commit(scored []candidate, e *Edit) {
	d.calls++
	slices.SortFunc(scored, compareKeys)
	kept := len(scored) - d.stays(d.calls)
	for i, c := range scored {
		switch masked := d.canvas.masked(c.position); {
		case i < kept && masked:
			e.Set(c.position, c.token, c.logP)
		case i >= kept && !masked:
			e.Mask(c.position)
		}
	}
}

// enumerate goes through all tokens that the calls may draw.
func (law pathPlanning) enumerate(o *outcomes, c *Canvas) error {
	first, _ := law.start(c, draw.NewDraws(0, 0), c.Masked(nil), false)
	o.add(0, "", first, 1)
	return o.each(func(f *forked) error { return f.decoder.(*pathPlanned).branch(o, f.p) })
}

// branch goes on with every draw of the next call.
func (d *pathPlanned) branch(o *outcomes, p float64) error {
	var a Ask
	if !d.Ask(&a) {
		o.calls += p * float64(d.RuleCalls()-d.calls)
		o.end(d.canvas.ids, p)
		return nil
	}
	o.calls += p
	rows, err := o.rows(d.canvas, &a)
	if err != nil {
		return err
	}
	options := make([][]candidate, len(d.free))
	q := make([]float64, rows.Columns())
	for i, l := range d.free {
		if clear(q); d.canvas.masked(l) {
			err = rows.Probabilities(q, 0, i)
		} else {
			q[d.canvas.ID(l)] = 1
		}
		for token, p := range q {
			if err == nil && p > 0 {
				c := candidate{position: l, token: token, logP: math.Log(p)}
				err = d.rate(&c, rows.Logits(0, i))
				options[i] = append(options[i], c)
			}
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
	}
	return eachDraw(options, p, func(drawn []candidate, p float64) error {
		if err := o.take(); err != nil {
			return err
		}
		next := *d
		var e *Edit
		next.canvas, e = d.canvas.fork()
		next.commit(slices.Clone(drawn), e)
		o.add(next.calls, fmt.Sprint(next.canvas.ids), &next, p)
		return nil
	})
}
