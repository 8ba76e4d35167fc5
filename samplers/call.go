package samplers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"mdmgen/samplers/draw"
)

// round makes one network call and passes its rows to the decoders. The queue must not be empty. If
// the call fails, the tasks at fault end; if it is cancelled because all its contexts have ended,
// [engine.drop] ends its tasks.
func (e *engine) round() {
	e.gather()
	ctx, stop := e.context()
	begin := time.Now()
	err := e.make(ctx, e.call)
	for _, p := range e.call {
		p.job.Turn.charge(begin, len(e.call))
	}
	if spent := time.Since(begin); e.shortest {
		e.lead -= spent
	} else {
		e.lead += spent
	}
	ended := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
		e.take()
	case !ended:
		e.retry(err)
	}
}

// head returns the head to ask the network for. It is [HeadBest] if the decoder asks for that
// alone, the network draws and nothing is truncated. Otherwise it is rows, from which the engine
// draws. The choice depends on settings and never on timing.
func (e *engine) head(a *Ask, from *draw.Categorical) Head {
	if a.Head == HeadBest && !a.WithRows && e.drawer != nil && !from.TakesRows() {
		return HeadBest
	}
	return HeadRows
}

// gather chooses the rows of the next call, up to the batch, in the order of turns: those whose canvas
// has the length of the first and that ask for the same. Rows without memory for their keys and values
// wait.
func (e *engine) gather() {
	e.call, e.canvases = e.call[:0], 1
	for _, t := range e.queue {
		if m, ok := t.job.Method.(Canvases); ok {
			e.canvases = max(m.Canvases(), e.canvases)
		}
	}
	most := math.MaxInt
	for _, t := range e.turns() {
		for ; t.sent < len(t.ask.Rows); t.sent++ {
			p := place{t, t.sent}
			if len(e.call) > 0 && len(e.call) >= min(e.rows(t.canvas.Len()), most) || e.share(p) || len(e.call) > 0 && !e.call[0].like(p) || !e.reserve(p) {
				break
			}
			if e.call = append(e.call, p); len(e.call) == 1 && e.shared {
				most, e.now = e.patience(p), t.job.Turn.Of.spent
			}
		}
	}
}

// turns returns the waiting tasks in the order in which they have waited. For concurrent callers it is
// that of the time spent on their clients, the least first, and half of the time also on their requests:
// so a short request soon ends beside long ones, and none waits for ever.
func (e *engine) turns() []*task {
	if !e.shared {
		return e.queue
	}
	e.shortest = e.lead > 0
	e.order = append(e.order[:0], e.queue...)
	slices.SortStableFunc(e.order, func(a, b *task) int {
		order := cmp.Compare(a.job.Turn.Of.spent, b.job.Turn.Of.spent)
		if order == 0 && e.shortest {
			order = cmp.Compare(a.job.Turn.spent, b.job.Turn.spent)
		}
		return order
	})
	return e.order
}

// patience returns the maximum number of rows of a call that begins with a place: it has at most three
// times the positions of the shortest call that another request waits for and that cannot be part of
// it.
func (e *engine) patience(first place) int {
	rows := math.MaxInt
	for _, t := range e.queue {
		if p := (place{t, t.sent}); t.job.Turn != first.job.Turn && !first.like(p) {
			n := min(len(t.ask.Rows)-t.sent, e.rows(t.canvas.Len())) * t.canvas.Len()
			rows = min(rows, max(1, 3*n/first.canvas.Len()))
		}
	}
	return rows
}

// like reports whether two places may be in one call.
func (p place) like(q place) bool {
	a, b := p.ask.Rows[p.row], q.ask.Rows[q.row]
	return p.canvas.Len() == q.canvas.Len() && p.head == q.head && (p.head != HeadBest || p.ask.Top == q.ask.Top) &&
		len(a.Compute) == len(b.Compute) && (a.Keep > 0) == (b.Keep > 0)
}

// lookaheadPositions bounds the positions of the canvases that look-ahead adds to a call. Each
// takes memory in the network, about 60 KB for 768 features, and that many keep any processor busy.
const lookaheadPositions = 1 << 15

// rows returns the greatest number of rows of a call on canvases of a length.
func (e *engine) rows(length int) int {
	return max(e.batch, min(e.batch*e.canvases, lookaheadPositions/max(length, 1)))
}

// context returns a context for the call that ends when the contexts of all its tasks have ended.
// stop must be called after the call.
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

// make builds and makes a call, and hands each place its answer.
func (e *engine) make(ctx context.Context, call []place) error {
	c, d := &e.asked, &e.drawing
	*c = Call{IDs: c.IDs[:0], Positions: c.Positions[:0], Counts: c.Counts[:0], Sigma: c.Sigma[:0], Blocks: c.Blocks[:0]}
	d.Uniforms, d.Temperatures = d.Uniforms[:0], d.Temperatures[:0]
	for _, p := range call {
		r := p.ask.Rows[p.row]
		c.Add(&e.spec, p.canvas.ids, r)
		if r.Keep > 0 {
			c.Kept = append(c.Kept, e.keptFor(p))
		}
		for _, u := range r.Uniforms {
			d.Uniforms, d.Temperatures = append(d.Uniforms, u), append(d.Temperatures, p.draw.Settings().AtTemperature())
		}
	}
	var out draw.Row
	var err error
	begin := time.Now()
	if call[0].head == HeadBest {
		d.Top = call[0].ask.Top
		e.best = slices.Grow(e.best[:0], len(c.Positions))[:len(c.Positions)]
		err = e.drawer.Best(ctx, *c, *d, e.best)
	} else {
		out, err = RowsOf(ctx, e.net, *c)
	}
	e.totals.Network += time.Since(begin)
	e.totals.NetworkCalls++
	for _, p := range call {
		if r := &p.ask.Rows[p.row]; !r.Beside {
			e.totals.Rows++
			e.totals.Positions += p.computed(r)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("network: %w", err)
	case call[0].head == HeadBest:
		e.deliverBest(call)
		return nil
	case out.Len() != len(c.Positions)*e.spec.Columns:
		return fmt.Errorf("the network returned %d values for %d positions and %d columns", out.Len(), len(c.Positions), e.spec.Columns)
	}
	e.deliverRows(call, out)
	return nil
}

// deliverBest hands each place what the network drew.
func (e *engine) deliverBest(call []place) {
	best := e.best
	for _, p := range call {
		for j := range p.best[p.row] {
			b := draw.Result{Best: best[j]}
			if math.IsNaN(b.LogP) {
				b.Err = ErrNoSoftmax
			}
			p.best[p.row][j] = b
		}
		best = best[len(p.best[p.row]):]
	}
}

// deliverRows hands each place its rows, and draws for those that ask for HeadBest.
func (e *engine) deliverRows(call []place, out draw.Row) {
	columns, at := e.spec.Columns, 0
	e.draws = e.draws[:0]
	for _, p := range call {
		r := p.ask.Rows[p.row]
		n := len(r.Positions) * columns
		p.rows[p.row], at = out.Slice(at, at+n), at+n
		if p.ask.Head == HeadBest {
			for j := range r.Positions {
				e.draws = append(e.draws, draw.Position{From: &p.draw, Row: p.rows[p.row].Slice(j*columns, (j+1)*columns), Uniform: r.Uniforms[j], Top: p.ask.Top, To: &p.best[p.row][j]})
			}
		}
	}
	draw.All(e.draws)
}

// retry repeats a failed call row by row, so that only tasks whose rows fail end, and the others
// continue.
func (e *engine) retry(err error) {
	faults := make(map[*task]error)
	if len(e.call) == 1 || e.tooLarge(err) {
		for _, p := range e.call {
			faults[p.task] = err
		}
	} else {
		for i, p := range e.call {
			if faults[p.task] != nil || p.ctx.Err() != nil {
				continue
			}
			if err := e.make(p.ctx, e.call[i:i+1]); err != nil {
				faults[p.task] = err
				continue
			}
			p.rows[p.row] = p.rows[p.row].Clone() // the next call reuses this call's memory
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

// tooLarge reports whether a call failed because of its size and the run must end. Sample chose the
// size itself and ends; a shared engine goes on with less.
func (e *engine) tooLarge(err error) bool {
	var size TooLarge
	return !e.shared && errors.As(err, &size) && size.TooLarge()
}

// take passes rows to the decoders of those tasks of a call whose rows are complete, and puts them
// at the end of the queue again. Rows of incomplete tasks are copied.
func (e *engine) take() {
	for _, p := range e.call {
		if p.complete = p.sent == len(p.ask.Rows); !p.complete {
			p.rows[p.row] = p.rows[p.row].Clone()
		}
	}
	e.queue = slices.DeleteFunc(e.queue, func(t *task) bool { return t.complete })
	for _, p := range e.call {
		if !p.complete {
			continue
		}
		p.complete = false // its other rows are in this call too
		turn, begin := p.job.Turn, time.Now()
		if err := e.edit(p.task); err != nil {
			e.end(p.task, err)
		} else {
			e.save(p.task)
			e.next(p.task)
		}
		turn.charge(begin, 1)
	}
}

// edit passes a decoder its rows.
func (e *engine) edit(t *task) (err error) {
	defer e.caught(&err)
	s := &t.step
	s.empty()
	s.Index, s.Step, s.Finish, s.Theta = t.index, t.ask.Step, t.ask.Finish, t.ask.Rows[0].Theta
	for i := range t.ask.Rows {
		if r := &t.ask.Rows[i]; !r.Beside {
			s.Rows++
			s.Computed += t.computed(r)
		}
	}
	s.Cached, t.found = t.found, 0
	e.totals.Cached += s.Cached
	t.edit = Edit{canvas: &t.canvas, draws: &t.draws, step: s}
	if err := t.decoder.Take(Rows{e.spec.Columns, t.rows, t.best, &t.draw}, &t.edit); err != nil {
		return err
	}
	if t.edit.err != nil {
		return t.edit.err
	}
	if t.job.Top > 0 {
		e.look(t)
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

// ErrNoSoftmax is the error of a row for which a [Drawer] found no softmax.
var ErrNoSoftmax = errors.New("its row has no softmax: a logit is NaN or +Inf, or all are −Inf")
