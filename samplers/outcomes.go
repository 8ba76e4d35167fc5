package samplers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"mdmgen/internal/fault"
)

// Outcome is a way in which a sampler may end.
type Outcome struct {
	// IDs is the canvas, with MASK's id where a mask was left.
	IDs []int
	// P is its probability.
	P float64
}

// Outcomes works out the exact law of a decoder without a plan on a canvas of a small network,
// in the order of ids, and the expected number of calls of its rule (of those that are made, for
// remdm). Every way to draw the tokens of a call is gone through, canvases that agree being one;
// it is an error where there are more than limit of them, and for samplers that have a plan, in
// blocks or corrected, and for quotas that are drawn. Probabilities are as exact as the
// network's logits.
func (s *Sampler) Outcomes(ctx context.Context, net Network, canvas []int, limit int) ([]Outcome, float64, error) {
	law, ok := s.kernel.(enumerable)
	if !ok {
		return nil, 0, fault.Errorf("samplers", "%s: no law of it is worked out by its outcomes", s)
	}
	spec := net.Spec()
	draw, err := NewCategorical(spec.Vocabulary, s.settings.Draw)
	if err != nil {
		return nil, 0, err
	}
	c := &Canvas{spec: &spec, law: draw}
	for _, id := range canvas {
		c.ids = append(c.ids, int64(id))
	}
	o := &outcomes{ctx: ctx, net: net, left: limit, states: make(map[int]map[string]*forked), ended: make(map[string]*Outcome)}
	if err := law.enumerate(o, c); err != nil {
		return nil, 0, fault.Errorf("samplers", "%s: %w", s, err)
	}
	var out []Outcome
	for _, x := range o.ended {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Outcome) int { return slices.Compare(a.IDs, b.IDs) })
	return out, o.calls, nil
}

// enumerable is a law whose outcomes are worked out.
type enumerable interface {
	enumerate(o *outcomes, c *Canvas) error
}

// outcomes is what is known of the outcomes so far.
type outcomes struct {
	ctx  context.Context
	net  Network
	left int // how many more ways may be gone through
	// states are what is to be gone on from, by the calls before it.
	states map[int]map[string]*forked
	ended  map[string]*Outcome
	calls  float64
}

// forked is a decoder in some state, with the probability of it.
type forked struct {
	decoder any
	p       float64
}

// add adds a state that is reached with probability p.
func (o *outcomes) add(calls int, key string, decoder any, p float64) {
	if o.states[calls] == nil {
		o.states[calls] = make(map[string]*forked)
	}
	if f := o.states[calls][key]; f != nil {
		f.p += p
		return
	}
	o.states[calls][key] = &forked{decoder, p}
}

// each goes through the states in the order of their calls, so that each is whole when it is
// gone on from.
func (o *outcomes) each(do func(f *forked) error) error {
	for calls := 0; len(o.states) > 0; calls++ {
		states := o.states[calls]
		for _, key := range slices.Sorted(maps.Keys(states)) { // sums are of one order
			if err := do(states[key]); err != nil {
				return err
			}
		}
		delete(o.states, calls)
	}
	return nil
}

// end adds an outcome.
func (o *outcomes) end(ids []int64, p float64) {
	key := fmt.Sprint(ids)
	x := o.ended[key]
	if x == nil {
		x = new(Outcome)
		for _, id := range ids {
			x.IDs = append(x.IDs, int(id))
		}
		o.ended[key] = x
	}
	x.P += p
}

// take counts a way that is gone through.
func (o *outcomes) take() error {
	if o.left--; o.left < 0 {
		return errors.New("too many outcomes to go through them all")
	}
	return o.ctx.Err()
}

// rows asks the network.
func (o *outcomes) rows(c *Canvas, a *Ask) (Rows, error) {
	call := Call{}
	for _, r := range a.Rows {
		ids := r.Canvas
		if ids == nil {
			ids = c.ids
		}
		call.IDs, call.Counts = append(call.IDs, ids...), append(call.Counts, len(r.Positions))
		for _, l := range r.Positions {
			if c.spec.Shift {
				l = max(l-1, 0)
			}
			call.Positions = append(call.Positions, int64(l))
		}
		if c.spec.TimeConditioned {
			call.Sigma = append(call.Sigma, r.Theta)
		}
	}
	data, err := o.net.Logits(o.ctx, call)
	if err != nil {
		return Rows{}, err
	}
	out := Rows{head: HeadRows, columns: c.spec.Columns, draw: c.law}
	data = slices.Clone(data)
	for _, n := range call.Counts {
		out.data, data = append(out.data, data[:n*out.columns]), data[n*out.columns:]
	}
	return out, nil
}

// enumerate goes through all tokens that the calls may draw, and through all positions that
// random choices may take.
func (law *ranking) enumerate(o *outcomes, c *Canvas) error {
	if law.binomial {
		return errors.New("quotas are drawn")
	}
	first, err := law.start(c, NewDraws(0, 0), c.Masked(nil), false)
	if err != nil {
		return err
	}
	o.add(0, "", first, 1)
	return o.each(func(f *forked) error {
		d := f.decoder.(*ranked)
		before := d.ruleCalls
		more := d.next()
		o.calls += f.p * float64(d.ruleCalls-before)
		if !more {
			o.end(d.canvas.ids, f.p)
			return nil
		}
		if law.score != ScoreRandom {
			return d.branch(o, f.p)
		}
		sets := subsets(d.asked, d.considered)
		for _, set := range sets {
			d.asked = set
			if err := d.branch(o, f.p/float64(len(sets))); err != nil {
				return err
			}
		}
		return nil
	})
}

// subsets are those of so many items.
func subsets(items []int, n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for i := range items {
		for _, rest := range subsets(items[i+1:], n-1) {
			out = append(out, append([]int{items[i]}, rest...))
		}
	}
	return out
}

// branch goes on from the call that d is about to make, with every draw of its tokens.
func (d *ranked) branch(o *outcomes, p float64) error {
	var ask Ask
	d.reader.ask(&ask, d.asked, thetaOf(d.lambda()))
	rows, err := o.rows(d.canvas, &ask)
	if err != nil {
		return err
	}
	options := make([][]candidate, len(d.asked)) // by position
	for i, l := range d.asked {
		options[i], err = d.reader.candidates(rows, i, l)
		if i >= len(d.masked) && errors.Is(err, errNoMass) {
			continue
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
	}
	drawn := make([]candidate, 0, len(d.asked))
	var draw func(i int, p float64) error
	draw = func(i int, p float64) error {
		if i == len(d.asked) {
			return d.commitAll(o, drawn, p)
		}
		if options[i] == nil {
			return draw(i+1, p)
		}
		for _, c := range options[i] {
			drawn = append(drawn, c)
			if err := draw(i+1, p*math.Exp(c.logP)); err != nil {
				return err
			}
			drawn = drawn[:len(drawn)-1]
		}
		return nil
	}
	return draw(0, p)
}

// commitAll commits what the rule takes of drawn tokens, in every order in which a random choice
// may take them.
func (d *ranked) commitAll(o *outcomes, drawn []candidate, p float64) error {
	best, edits := d.split(drawn)
	if d.law.temper == 0 {
		return d.commitOne(o, best[:d.considered], edits, p)
	}
	// Without replacement, in proportion to the exponentials of the keys.
	var chosen []candidate
	var choose func(left []candidate, p float64) error
	choose = func(left []candidate, p float64) error {
		if len(chosen) == d.considered {
			return d.commitOne(o, chosen, edits, p)
		}
		greatest := slices.MaxFunc(left, func(a, b candidate) int { return compareKeys(b, a) }).key
		var sum float64
		for _, c := range left {
			sum += math.Exp(c.key - greatest)
		}
		for i, c := range left {
			chosen = append(chosen, c)
			if err := choose(slices.Delete(slices.Clone(left), i, i+1), p*math.Exp(c.key-greatest)/sum); err != nil {
				return err
			}
			chosen = chosen[:len(chosen)-1]
		}
		return nil
	}
	return choose(best, p)
}

// commitOne goes on with one way.
func (d *ranked) commitOne(o *outcomes, considered, edits []candidate, p float64) error {
	if err := o.take(); err != nil {
		return err
	}
	c := &Canvas{slices.Clone(d.canvas.ids), d.canvas.spec, d.canvas.law}
	next := *d
	next.canvas, next.block.canvas, next.reader.decoder = c, c, &next
	next.asked, next.masked, next.ranked = nil, nil, nil
	next.reader.unguided, next.reader.mixed, next.reader.uniforms = nil, nil, nil
	e := Edit{canvas: c, draws: NewDraws(0, 0), step: new(Step)}
	next.commit(slices.Clone(considered), edits, &e)
	if e.err != nil {
		return e.err
	}
	run := next.run
	run.quotas = nil // which the block and its masks at the start tell
	o.add(next.ruleCalls, fmt.Sprint(c.ids, next.block.span, next.entered, run), &next, p)
	return nil
}

// candidates are those of all tokens that may be drawn at the i-th position of a call.
func (r *reader) candidates(rows Rows, i, position int) ([]candidate, error) {
	row, law := r.row(rows, i), rows.draw
	if r.rows {
		law = r.drawn
	}
	b, err := law.Best(row, 0.5, r.top)
	if err != nil {
		return nil, err
	}
	p := make([]float64, len(row))
	if err := law.Probabilities(p, row); err != nil {
		return nil, err
	}
	if !r.rows {
		row = nil
	}
	var out []candidate
	for a, q := range p {
		if q == 0 {
			continue
		}
		b.Token, b.LogP = a, math.Log(q)
		c, err := r.candidate(b, row, position)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// enumerate goes through all that the steps may change.
func (law *remasking) enumerate(o *outcomes, c *Canvas) error {
	if law.nucleus < 1 {
		return errors.New("nucleus-p is in force")
	}
	first, _ := law.start(c, NewDraws(0, 0), c.Masked(nil), false)
	o.add(0, "", first, 1)
	return o.each(func(f *forked) error { return f.decoder.(*remasked).branch(o, f.p) })
}

// branch goes through a step, or the end.
func (d *remasked) branch(o *outcomes, p float64) error {
	var masked []int
	for _, l := range d.free {
		if d.masked(l) {
			masked = append(masked, l)
		}
	}
	end := d.step == len(d.law.steps)
	if end && masked == nil {
		o.end(d.ids, p)
		return nil
	}
	step := RemaskStep{Lambda: remaskEnd}
	if !end {
		step = d.law.steps[d.step]
	}
	best := make(map[int]Best)
	laws := make(map[int][]float64)
	if masked != nil {
		c := &Canvas{d.ids, d.canvas.spec, d.canvas.law}
		rows, err := o.rows(c, &Ask{Rows: []AskRow{{Positions: masked, Theta: thetaOf(min(step.Lambda, d.law.most))}}})
		if err != nil {
			return err
		}
		for i, l := range masked {
			laws[l] = make([]float64, rows.Columns())
			if err := rows.Probabilities(laws[l], 0, i); err != nil {
				return fmt.Errorf("position %d: %w", l, err)
			}
			if best[l], err = rows.draw.Best(rows.Logits(0, i), 0.5, 1); err != nil {
				return err
			}
		}
	}
	if end {
		ids := slices.Clone(d.ids)
		for _, l := range masked {
			ids[l] = int64(best[l].Top[0].Token)
		}
		o.calls += p
		o.end(ids, p)
		return nil
	}
	next := &remasked{law: d.law, canvas: d.canvas, free: d.free, ids: slices.Clone(d.ids), step: d.step + 1, confidence: make(map[int]float64)}
	total := d.unsure()
	var change func(i int, p float64, reveals bool) error
	change = func(i int, p float64, reveals bool) error {
		if p == 0 {
			return nil
		}
		if i == len(d.free) {
			if err := o.take(); err != nil {
				return err
			}
			if reveals {
				o.calls += p
			}
			after := *next
			after.ids, after.confidence = slices.Clone(next.ids), make(map[int]float64)
			if d.law.conf {
				for _, l := range d.free {
					if !after.masked(l) {
						after.confidence[l] = next.confidence[l]
					}
				}
			}
			o.add(after.step, fmt.Sprint(after.ids, after.confidence), &after, p)
			return nil
		}
		l := d.free[i]
		q := d.probability(step, l, total)
		if err := change(i+1, p*(1-q), reveals); err != nil {
			return err
		}
		was, sure := next.ids[l], next.confidence[l]
		defer func() { next.ids[l], next.confidence[l] = was, sure }()
		if !d.masked(l) {
			next.ids[l] = int64(d.canvas.spec.Mask)
			return change(i+1, p*q, reveals)
		}
		for a, mu := range laws[l] {
			if next.ids[l], next.confidence[l] = int64(a), mu; mu > 0 {
				if err := change(i+1, p*q*mu, true); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for l, sure := range d.confidence {
		next.confidence[l] = sure
	}
	return change(0, p, false)
}
