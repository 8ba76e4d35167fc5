package rank

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/exact"

	"gonum.org/v1/gonum/stat/combin"
)

// Enumerates reports whether quotas are fixed and not drawn.
func (k *kernel) Enumerates() bool { return !k.binomial }

// Enumerate enumerates all tokens that the calls may draw, and all positions that random choices
// may select.
func (k *kernel) Enumerate(w *exact.Walk, c *samplers.Canvas) error {
	alone := *k
	alone.most = 0
	return exact.Through(w, &alone, c, func(b *exact.Branches[*rankDecoder], d *rankDecoder, p float64) error { return d.goOn(b, p) })
}

// goOn continues from a state.
func (d *rankDecoder) goOn(b *exact.Branches[*rankDecoder], p float64) error {
	before := d.ruleCalls
	more := d.next()
	b.Calls += p * float64(d.ruleCalls-before)
	if !more {
		b.End(d.canvas.IDs(), p)
		return nil
	}
	if d.kernel.score != ByRandom {
		return d.branch(b, p)
	}
	asked, sets := slices.Clone(d.asked), combin.Combinations(len(d.asked), d.considered)
	for _, set := range sets {
		d.asked = d.asked[:0]
		for _, i := range set {
			d.asked = append(d.asked, asked[i])
		}
		if err := d.branch(b, p/float64(len(sets))); err != nil {
			return err
		}
	}
	return nil
}

// branch enumerates the draws of the next call of d.
func (d *rankDecoder) branch(b *exact.Branches[*rankDecoder], p float64) error {
	var ask samplers.Ask
	d.reader.ask(&ask, d.asked, d.theta())
	rows, err := b.Rows(d.canvas, &ask)
	if err != nil {
		return err
	}
	if err := d.watch(rows); err != nil {
		return err
	}
	options := make([][]candidate, len(d.asked)) // by position
	for i, l := range d.asked {
		if l >= d.block.To {
			break // a position that is only watched
		}
		options[i], err = d.reader.candidates(rows, i, l)
		if i >= len(d.masked) && errors.Is(err, draw.ErrNoMass) {
			continue
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
	}
	return exact.EachDraw(options, p, func(c candidate) float64 { return math.Exp(c.logP) }, func(drawn []candidate, p float64) error { return d.commitAll(b, drawn, p) })
}

// commitAll commits, for one outcome of the draws, every set of positions that the rule may choose.
func (d *rankDecoder) commitAll(b *exact.Branches[*rankDecoder], drawn []candidate, p float64) error {
	best, edits := d.split(drawn)
	if d.kernel.temper == 0 {
		return d.commitOne(b, best[:d.considered], edits, p)
	}
	share := d.shares(best)
	return eachSet(best, d.considered, d.considered, func(chosen, _ []candidate, set int) error {
		return d.commitOne(b, chosen, edits, p*math.Exp(share(set)))
	})
}

// commitOne continues with one choice.
func (d *rankDecoder) commitOne(b *exact.Branches[*rankDecoder], considered, edits []candidate, p float64) error {
	next, e := d.fork()
	if next.commit(slices.Clone(considered), edits, e); e.Err() != nil {
		return e.Err()
	}
	return b.Add(next.ruleCalls, next.key(), next, p)
}

// fork returns the decoder on a copy of its canvas, which the edit changes.
func (d *rankDecoder) fork() (*rankDecoder, *samplers.Edit) {
	c, e := d.canvas.Fork(d.canvas.IDs())
	next := *d
	next.canvas, next.block.Canvas, next.reader.decoder = c, c, &next
	next.asked, next.masked, next.ranked = nil, nil, nil
	next.reader.uniforms = nil
	return &next, e
}

// key returns a string that is equal for decoders with the same future.
func (d *rankDecoder) key() string {
	run := d.run
	run.quotas = nil                  // determined by the block and its masks at the start
	run.masked, run.candidates = 0, 0 // counted again
	if d.kernel.steps == 0 && d.kernel.editing == 0 {
		run.calls, run.refused = min(run.calls, 1), 0 // without quotas
	}
	return fmt.Sprint(d.canvas.IDs(), [2]int{d.block.From, d.block.To}, d.entered, run, d.seen)
}

// distribution is a row with the distribution that its tokens are drawn from.
type distribution struct {
	best draw.Best
	logs []float64 // [draw.Categorical.LogProbabilities]
	own  func(token int) float64
}

// distribution returns the distribution at the i-th position of a call.
func (r *reader) distribution(rows samplers.Rows, i int) (out distribution, err error) {
	row, from := rows.Row(0, i), rows.Categorical()
	if r.rows {
		from = &r.drawn
	}
	out.logs = make([]float64, row.Len())
	if err := from.LogProbabilities(out.logs, row); err != nil {
		return out, err
	}
	if r.rows {
		if out.own, err = r.own(row.Clone()); err != nil { // the next row may reuse its memory
			return out, err
		}
	}
	if !r.decoder.kernel.byToken || r.top > 0 {
		out.best, err = from.Best(row, 0.5, r.top)
	}
	return out, err
}

// candidates returns a candidate for each token that may be drawn at the i-th position of a call.
func (r *reader) candidates(rows samplers.Rows, i, position int) (out []candidate, err error) {
	dist, err := r.distribution(rows, i)
	for a, q := range dist.logs {
		if math.Exp(q) > 0 && err == nil {
			dist.best.Token, dist.best.LogP = a, q
			out = append(out, r.candidate(dist.best, dist.own, position))
		}
	}
	return out, err
}

// score returns the score of a token, if scores depend on drawn tokens.
func (l distribution) score(token int) float64 {
	if l.own != nil {
		return l.own(token)
	}
	return math.Exp(l.logs[token])
}
