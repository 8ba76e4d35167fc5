package samplers

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// round makes one call of the network and hands its rows to their decoders. The queue must
// not be empty. A call that fails ends the tasks that are to blame; one that was broken off
// because all its contexts have ended leaves them to [engine.drop].
func (e *engine) round() {
	e.gather()
	ctx, stop := e.context()
	out, err := e.logits(ctx, e.call)
	ended := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
		for _, p := range e.call {
			out = p.got(out, e.spec.Columns)
		}
		e.take()
	case !ended:
		e.apart(err)
	}
}

// got keeps what a call gave for its canvas, and returns the rest.
func (p place) got(out []float32, columns int) []float32 {
	n := len(p.ask.Rows[p.row].Positions) * columns
	p.rows[p.row] = out[:n:n]
	return out[n:]
}

// gather chooses the rows of the next call: of the tasks whose canvas has the length of the
// one that waited longest, in the order in which they waited, up to the batch.
func (e *engine) gather() {
	e.call = e.call[:0]
	length := e.queue[0].canvas.Len()
	for _, t := range e.queue {
		if t.canvas.Len() != length {
			continue
		}
		for ; t.sent < len(t.ask.Rows) && len(e.call) < e.batch; t.sent++ {
			e.call = append(e.call, place{t, t.sent})
		}
	}
}

// context is what a call ends with: when the contexts of all its tasks have ended. stop is
// for after the call.
func (e *engine) context() (ctx context.Context, stop func()) {
	first := e.call[0].ctx
	if !slices.ContainsFunc(e.call, func(p place) bool { return p.ctx != first }) {
		return first, func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var going atomic.Int64
	going.Store(int64(len(e.call)))
	stops := make([]func() bool, len(e.call))
	for i, p := range e.call {
		stops[i] = context.AfterFunc(p.ctx, func() {
			if going.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// logits lays out a call and makes it.
func (e *engine) logits(ctx context.Context, call []place) ([]float32, error) {
	c := &e.asked
	c.IDs, c.Positions, c.Counts = c.IDs[:0], c.Positions[:0], c.Counts[:0]
	sigma := c.Sigma[:0]
	for _, p := range call {
		r := p.ask.Rows[p.row]
		ids := r.Canvas
		if ids == nil {
			ids = p.canvas.ids
		}
		c.IDs = append(c.IDs, ids...)
		c.Counts = append(c.Counts, len(r.Positions))
		for _, l := range r.Positions {
			if e.spec.Shift {
				l = max(l-1, 0)
			}
			c.Positions = append(c.Positions, int64(l))
		}
		if e.spec.TimeConditioned {
			sigma = append(sigma, r.Theta)
		}
	}
	if e.spec.TimeConditioned {
		c.Sigma = sigma
	}
	begin := time.Now()
	out, err := e.net.Logits(ctx, *c)
	e.totals.Network += time.Since(begin)
	e.totals.NetworkCalls++
	e.totals.Rows += len(call)
	e.totals.Positions += len(c.IDs)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	if len(out) != len(c.Positions)*e.spec.Columns {
		return nil, fmt.Errorf("the network returned %d values for %d positions and %d columns", len(out), len(c.Positions), e.spec.Columns)
	}
	return out, nil
}

// apart repeats a call that failed row by row, so that only tasks end whose rows fail, and
// goes on with the others.
func (e *engine) apart(err error) {
	faults := make(map[*task]error)
	if len(e.call) == 1 {
		faults[e.call[0].task] = err
	} else {
		for i, p := range e.call {
			if faults[p.task] != nil || p.ctx.Err() != nil {
				continue
			}
			out, err := e.logits(p.ctx, e.call[i:i+1])
			if err != nil {
				faults[p.task] = err
				continue
			}
			p.got(slices.Clone(out), e.spec.Columns) // the next call takes the memory of this one
		}
	}
	e.call = slices.DeleteFunc(e.call, func(p place) bool { return faults[p.task] != nil || p.ctx.Err() != nil })
	e.queue = slices.DeleteFunc(e.queue, func(t *task) bool {
		err := faults[t]
		if err != nil {
			e.end(t, err)
		}
		return err != nil
	})
	e.take()
}

// take hands rows to the decoders of the tasks of a call that have all of theirs. They
// wait anew at the end of the queue. Rows of a task that were not all in this call are
// copied.
func (e *engine) take() {
	for _, p := range e.call {
		if p.complete = p.sent == len(p.ask.Rows); !p.complete {
			p.rows[p.row] = slices.Clone(p.rows[p.row])
		}
	}
	e.queue = slices.DeleteFunc(e.queue, func(t *task) bool { return t.complete })
	for _, p := range e.call {
		if !p.complete {
			continue
		}
		p.complete = false // its other rows are in this call too
		if err := e.edit(p.task); err != nil {
			e.end(p.task, err)
			continue
		}
		e.next(p.task)
	}
}

// edit has a decoder take its rows.
func (e *engine) edit(t *task) (err error) {
	defer e.caught(&err)
	s := &t.step
	s.empty()
	s.Index, s.Step, s.Finish, s.Theta, s.Rows = t.job.Index, t.ask.Step, t.ask.Finish, t.ask.Rows[0].Theta, len(t.ask.Rows)
	t.edit = Edit{canvas: &t.canvas, draws: &t.draws, step: s}
	if err := t.decoder.Take(Rows{e.spec.Columns, t.rows, &t.draw}, &t.edit); err != nil {
		return err
	}
	if t.edit.err != nil {
		return t.edit.err
	}
	for _, logP := range s.LogP {
		t.result.LogP += logP
	}
	t.result.Rows += s.Rows
	e.totals.Tokens += len(s.Tokens)
	if s.Finish {
		t.result.FinishCalls++
		e.totals.FinishCalls++
	} else {
		t.result.Calls++
		e.totals.Calls++
	}
	return nil
}
