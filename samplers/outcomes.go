package samplers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
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
// it is an error where there are more than limit of them, and where [Sampler.HasOutcomes] says so.
// Probabilities are as exact as the network's logits.
func (s *Sampler) Outcomes(ctx context.Context, net Network, canvas []int, limit int) ([]Outcome, float64, error) {
	if err := s.HasOutcomes(); err != nil {
		return nil, 0, err
	}
	around, isShaped := s.law.(shaping)
	law := s.unshaped().(enumerable)
	spec := net.Spec()
	rows, err := draw.NewCategorical(spec.Vocabulary, s.settings.Draw)
	if err != nil {
		return nil, 0, err
	}
	c := newCanvas(&spec, rows, canvas)
	o := &outcomes{ctx: ctx, net: net, left: limit, states: make(map[int]map[string]*forked), ended: make(map[string]*Outcome)}
	if isShaped {
		if o.shape, err = around.on(c, c.Masked(nil)); err != nil {
			return nil, 0, fault.Errorf("samplers", "%s: %w", s, err)
		}
	}
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

// HasOutcomes says why [Sampler.Outcomes] does not work out a law, nil where it does: samplers that
// have a plan, in blocks or corrected, have none, and banned words and quotas that are drawn.
func (s *Sampler) HasOutcomes() error {
	around, _ := s.law.(shaping)
	law := s.unshaped()
	ranks, _ := law.(*ranking)
	if _, ok := law.(enumerable); ok && !around.bans() && (ranks == nil || !ranks.binomial) {
		return nil
	}
	return fault.Errorf("samplers", "no law of %s is worked out: %s", s, cmp.Or(s.law.declare().Why, "it has a plan"))
}

// unshaped is the law whose rows guidance and rules may change.
func (s *Sampler) unshaped() planner {
	if around, ok := s.law.(shaping); ok {
		return around.inner.law
	}
	return s.law
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
	// shape is what the rows are changed by, nil for nothing.
	shape *shaped
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

// eachDraw hands do each way to take one of the candidates of every position that has some, with
// p times the probability of their tokens. Candidates are valid during the call.
func eachDraw(options [][]candidate, p float64, do func(drawn []candidate, p float64) error) error {
	drawn := make([]candidate, 0, len(options))
	var take func(i int, p float64) error
	take = func(i int, p float64) error {
		switch {
		case i == len(options):
			return do(drawn, p)
		case options[i] == nil:
			return take(i+1, p)
		}
		for _, c := range options[i] {
			drawn = append(drawn, c)
			if err := take(i+1, p*math.Exp(c.logP)); err != nil {
				return err
			}
			drawn = drawn[:len(drawn)-1]
		}
		return nil
	}
	return take(0, p)
}

// rows asks the network.
func (o *outcomes) rows(c *Canvas, a *Ask) (Rows, error) {
	out, err := answers(o.ctx, o.net, []*question{{c, o.shape, *a}})
	if err != nil {
		return Rows{}, err
	}
	return out[0], nil
}

// question is what the decoder of a canvas asks outside an engine.
type question struct {
	canvas *Canvas
	shape  *shaped // what the rows are changed by, nil for nothing
	Ask
}

// answers asks the network questions in one call.
func answers(ctx context.Context, net Network, all []*question) ([]Rows, error) {
	var call Call
	for _, q := range all {
		q.shape.ask(q.canvas, &q.Ask)
		for _, r := range q.Rows {
			call.add(q.canvas.spec, q.canvas.ids, r)
		}
	}
	data, err := net.Logits(ctx, call)
	if err != nil {
		return nil, err
	}
	data = slices.Clone(data)
	var out []Rows
	for _, q := range all {
		rows := Rows{head: HeadRows, columns: q.canvas.spec.Columns, draw: q.canvas.law}
		for _, r := range q.Rows {
			n := len(r.Positions) * rows.columns
			rows.data, data = append(rows.data, data[:n]), data[n:]
		}
		out = append(out, q.shape.rows(rows))
	}
	return out, nil
}
