package samplers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Network is what a sampler needs of a model: the rows at wanted positions of some
// canvases.
type Network interface {
	// Spec describes the network. It does not change.
	Spec() Spec
	// Logits is one call. ids [rows·L] are canvases, positions [rows·K] the wanted
	// positions, K ≥ 1, both row-major; sigma [rows] is −log α of each row, nil
	// unless the network is time-conditioned. It returns [rows·K·columns] values,
	// row-major, that the caller must not keep beyond the next call. It is not safe
	// for concurrent use.
	Logits(ctx context.Context, rows int, ids, positions []int64, sigma []float64) ([]float32, error)
}

// Job is a canvas to be filled.
type Job struct {
	// Canvas holds ids, MASK at the positions to be sampled. It is not changed, and
	// several jobs may share it.
	Canvas []int
	// Method fills it; nil is first-hitting.
	Method Method
	// Draw says how tokens are drawn from rows.
	Draw Draw
	// Seed and Index determine the random numbers.
	Seed, Index uint64
}

// Totals are sums over a run.
type Totals struct {
	// Sequences counts finished ones; Calls and FinishCalls are sums over all
	// sequences, unfinished ones included.
	Sequences, Calls, FinishCalls int
	// NetworkCalls counts calls of the network, each for several sequences; Rows are their
	// canvases and Positions the positions of these, Tokens the drawn tokens.
	NetworkCalls, Rows, Positions, Tokens int
	// Wanted counts the positions whose rows were asked for, Computed those that calls
	// gave: a row of a call gives as many as the one that wants most.
	Wanted, Computed int
	// Events are those of finished sequences.
	Events int
	// Network and Sampling share the time of the run.
	Network, Sampling time.Duration
}

// task is a job that is under way.
type task struct {
	ctx    context.Context
	job    Job
	canvas Canvas
	draws  Draws
	// decoder asked for ask; sent of its rows are in calls, and rows are the answers so far.
	decoder Decoder
	ask     Ask
	sent    int
	rows    [][]float32
	// complete says that the last of its rows was in the call that is being taken.
	complete bool
	draw     *Categorical
	step     Step
	edit     Edit
	result   Result
	// watch is handed every step, which is valid during the call, nil where nobody looks;
	// ended how the task ended, err being nil where it finished.
	watch func(Step)
	ended func(Result, error)
}

// engine runs tasks, on one goroutine. A call of the network holds rows of tasks whose
// canvases have one length, those that waited longest first, whatever their clocks say.
type engine struct {
	net   Network
	spec  Spec
	batch int
	// queue are the tasks that wait for rows, the one that waited longest first.
	queue []*task
	draws []drawer

	call      []place
	ids       []int64
	positions []int64
	sigma     []float64
	totals    Totals
	spare     []*task
}

// drawer is a [Categorical] with the [Draw] that it was made for.
type drawer struct {
	draw Draw
	*Categorical
}

// place is a row of a call: the row-th of what a task asked.
type place struct {
	*task
	row int
}

func newEngine(net Network, batch int) (*engine, error) {
	spec := net.Spec()
	if batch < 0 {
		return nil, fmt.Errorf("samplers: batch is %d: must be at least 1", batch)
	}
	// What is wrong with the vocabulary is known before the first job.
	if _, err := NewCategorical(spec.Vocabulary, Draw{}); err != nil {
		return nil, err
	}
	return &engine{net: net, spec: spec, batch: max(batch, 1)}, nil
}

// drawer returns what draws tokens as d says.
func (e *engine) drawer(d Draw) (*Categorical, error) {
	same := func(x drawer) bool {
		a, b := x.draw.Temperature, d.Temperature
		return x.draw.TopK == d.TopK && x.draw.TopP == d.TopP && (a == b || a != nil && b != nil && *a == *b)
	}
	if i := slices.IndexFunc(e.draws, same); i >= 0 {
		return e.draws[i].Categorical, nil
	}
	c, err := NewCategorical(e.spec.Vocabulary, d)
	if err == nil {
		e.draws = append(e.draws, drawer{d, c})
	}
	return c, err
}

// admit starts a job. Nothing is called yet; a job that asks for nothing ends here.
func (e *engine) admit(ctx context.Context, job Job, watch func(Step), ended func(Result, error)) {
	var t *task
	if n := len(e.spare); n > 0 {
		t, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		t = new(task)
	}
	*t = task{ctx: ctx, job: job, watch: watch, ended: ended, canvas: Canvas{t.canvas.ids[:0], &e.spec}, ask: Ask{Rows: t.ask.Rows[:0]},
		rows: t.rows[:0], step: t.step.emptied(), draws: Draws{seed: job.Seed, index: job.Index, taken: t.draws.taken[:0]}, result: Result{Index: job.Index}}
	if err := e.start(t); err != nil {
		e.end(t, err)
		return
	}
	e.next(t)
}

func (e *engine) start(t *task) (err error) {
	v := e.spec.Vocabulary
	for l, id := range t.job.Canvas {
		if id != v.Mask && (id < 0 || id >= v.Columns) {
			return fmt.Errorf("position %d: id %d: must be in 0..%d, or the mask's id %d", l, id, v.Columns-1, v.Mask)
		}
		t.canvas.ids = append(t.canvas.ids, int64(id))
	}
	if t.draw, err = e.drawer(t.job.Draw); err != nil {
		return err
	}
	method := t.job.Method
	if method == nil {
		method = firstHitting
	}
	t.decoder, err = method.Start(&t.canvas, &t.draws)
	return err
}

// next has the decoder ask, and ends the task where it does not. It then waits in the
// queue.
func (e *engine) next(t *task) {
	t.ask = Ask{Rows: t.ask.Rows[:0]}
	more := t.decoder.Ask(&t.ask)
	if more {
		if err := e.check(t); err != nil {
			e.end(t, err)
			return
		}
	} else {
		e.finish(t)
	}
	if t.watch != nil && (t.result.Rows > 0 || !more) {
		// The step of the call before: that it was the last is known now.
		t.watch(t.step)
	}
	if !more {
		e.end(t, nil)
		return
	}
	t.sent, t.rows = 0, t.rows[:0]
	for range t.ask.Rows {
		t.rows = append(t.rows, nil)
	}
	e.queue = append(e.queue, t)
}

// check refuses an ask that no call can answer.
func (e *engine) check(t *task) error {
	if len(t.ask.Rows) == 0 {
		return errors.New("the decoder asks for no canvas")
	}
	for _, r := range t.ask.Rows {
		switch {
		case r.Canvas != nil && len(r.Canvas) != t.canvas.Len():
			return fmt.Errorf("the decoder asks about a canvas of %d positions: must be %d", len(r.Canvas), t.canvas.Len())
		case len(r.Positions) == 0:
			return errors.New("the decoder asks for no position")
		case e.spec.TimeConditioned && math.IsInf(r.Theta, 1) && !e.spec.InfiniteSigma:
			return errors.New("the time-conditioned network has no row at T = ∞: give a finite T")
		}
		for _, l := range r.Positions {
			if l < 0 || l >= t.canvas.Len() {
				return fmt.Errorf("the decoder asks about position %d of a canvas of %d", l, t.canvas.Len())
			}
		}
	}
	return nil
}

// finish fills in the result.
func (e *engine) finish(t *task) {
	r := &t.result
	r.IDs = make([]int, t.canvas.Len())
	for l, id := range t.canvas.ids {
		if r.IDs[l] = int(id); r.IDs[l] == e.spec.Mask {
			r.Left++
		}
	}
	if d, ok := t.decoder.(interface{ Events() int }); ok {
		r.Events = d.Events()
	}
	e.totals.Sequences++
	e.totals.Events += r.Events
	t.step.Index, t.step.Result = r.Index, r
}

// end tells how a task ended, and keeps its memory for another.
func (e *engine) end(t *task, err error) {
	if err != nil && t.ctx.Err() == nil {
		err = fmt.Errorf("samplers: sequence %d: %w", t.job.Index, err)
	}
	if d, ok := t.decoder.(interface{ release() }); ok {
		d.release()
	}
	t.ended(t.result, err)
	e.spare = append(e.spare, t)
}

// drop ends the tasks whose context has ended.
func (e *engine) drop() {
	e.queue = slices.DeleteFunc(e.queue, func(t *task) bool {
		err := t.ctx.Err()
		if err != nil {
			e.end(t, err)
		}
		return err != nil
	})
}
