package samplers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// Job is a canvas to be filled.
type Job struct {
	// Canvas holds ids, MASK at the positions to be sampled. It is not changed, and
	// several jobs may share it.
	Canvas []int
	// Method fills it.
	Method Method
	// Draw is how tokens are drawn from rows. The zero value takes those of a method that is
	// [OwnSettings], and the network's distribution for others.
	Draw draw.Settings
	// Seed and Index determine the random numbers.
	Seed, Index uint64
	// Top is [Config.Top].
	Top int
}

// Totals are sums over a run.
type Totals struct {
	// Sequences counts finished ones; Calls and FinishCalls are sums over all
	// sequences, unfinished ones included.
	Sequences, Calls, FinishCalls int
	// NetworkCalls counts calls of the network, each for several sequences; Rows are their
	// canvases and Positions those of their positions that were computed, Tokens the drawn tokens.
	NetworkCalls, Rows, Positions, Tokens int
	// Kept is the memory, in bytes, of what unfinished sequences keep ([Keeper]), MostKept the
	// greatest that it was.
	Kept, MostKept int64
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
	draws  draw.Numbers
	// decoder asked for ask; sent of its rows are in calls, and rows, or best, are the
	// answers so far. head is what the network is asked for.
	decoder Decoder
	ask     Ask
	head    Head
	sent    int
	rows    []draw.Row
	best    [][]draw.Result
	// complete is whether the last of its rows was in the call that is being taken.
	complete bool
	draw     draw.Categorical
	step     Step
	edit     Edit
	result   Result
	// kept are its sets of keys and values, for canvases of keptLength; keptBytes are counted for them.
	// guesses are copies for the rows of ask that are guesses.
	kept       []Kept
	guesses    []Kept
	keptLength int
	keptBytes  int64
	// index is the one in steps and the result: of the job, or of a sequence with a stream of
	// its own.
	index uint64
	// watch is handed every step, which is valid during the call, nil where nobody looks;
	// ended how the task ended, err being nil where it finished.
	watch func(Step)
	ended func(Result, error)
}

// engine runs tasks, on one goroutine. A call of the network holds rows of tasks whose
// canvases have one length and that ask for one head, those that waited longest first,
// whatever their clocks say.
type engine struct {
	net    Network
	drawer Drawer // nil where the network does not draw
	keeper Keeper // nil where the network keeps nothing
	spec   Spec
	// keep bounds the memory of what is kept, 0 for no bound.
	keep  int64
	batch int
	// canvases is how many times more rows than batch the next call may have, within lookaheadPositions.
	canvases int
	// queue are the tasks that wait for rows, the one that waited longest first.
	queue []*task
	// draw has the memory in which all tasks draw.
	draw *draw.Categorical
	// shared is whether tasks have callers of their own, to whom panics of their methods go.
	shared bool

	call []place
	// These have the memory of calls.
	asked   Call
	drawing Drawing
	best    []draw.Best
	draws   []draw.Position

	totals Totals
	spare  []*task
}

// place is a row of a call: the row-th of what a task asked.
type place struct {
	*task
	row int
}

func newEngine(net Network, batch int) (*engine, error) {
	spec := net.Spec()
	if batch < 0 {
		return nil, fault.Errorf("samplers", "batch is %d: must be at least 1", batch)
	}
	all, err := draw.NewCategorical(spec.Vocabulary, draw.Settings{})
	if err != nil {
		return nil, err
	}
	drawer, _ := net.(Drawer)
	keeper, _ := net.(Keeper)
	return &engine{net: net, drawer: drawer, keeper: keeper, spec: spec, batch: max(batch, 1), canvases: 1, draw: all}, nil
}

// admit starts a job, whose steps have an index. Nothing is called yet; a job that asks for nothing
// ends here.
func (e *engine) admit(ctx context.Context, job Job, index uint64, watch func(Step), ended func(Result, error)) {
	var t *task
	if n := len(e.spare); n > 0 {
		t, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		t = new(task)
	}
	t.ctx, t.job, t.index, t.watch, t.ended = ctx, job, index, watch, ended
	t.canvas.spec, t.result.Index = &e.spec, index
	t.draws.Reset(job.Seed, job.Index)
	if err := e.start(t); err != nil {
		e.end(t, err)
		return
	}
	e.next(t)
}

func (e *engine) start(t *task) (err error) {
	defer e.caught(&err)
	if err := t.ctx.Err(); err != nil {
		return err
	}
	for l, id := range t.job.Canvas {
		if !e.spec.Holds(id) {
			return fmt.Errorf("position %d: id %d: must be in 0..%d, or the mask's id %d", l, id, e.spec.Columns-1, e.spec.Mask)
		}
		t.canvas.ids = append(t.canvas.ids, int64(id))
	}
	method, how, by := t.job.Method, t.job.Draw, draw.ByInverse
	if method == nil {
		return errors.New("the job has no method")
	}
	if m, ok := method.(OwnSettings); ok && how == (draw.Settings{}) {
		how = m.TokenSettings()
	}
	if m, ok := method.(By); ok {
		by = m.By()
	}
	if t.draw, err = e.draw.With(how, by); err != nil {
		return err
	}
	t.canvas.law = &t.draw
	t.decoder, err = method.Start(&t.canvas, &t.draws)
	return err
}

// next has the decoder ask, and ends the task where it does not. It then waits in the
// queue.
func (e *engine) next(t *task) {
	more, err := e.ask(t)
	if !more && err == nil {
		e.finish(t)
	}
	if t.watch != nil && (t.result.Rows > 0 || t.step.Result != nil) {
		// The step of the call before: whether it was the last is known now.
		t.watch(t.step)
	}
	if !more || err != nil {
		e.end(t, err)
		return
	}
	t.sent, t.rows, t.head = 0, t.rows[:0], e.head(&t.ask, &t.draw)
	for i, r := range t.ask.Rows {
		t.rows = append(t.rows, draw.Row{})
		if t.ask.Head == HeadBest {
			if i == len(t.best) {
				t.best = append(t.best, nil)
			}
			t.best[i] = slices.Grow(t.best[i][:0], len(r.Positions))[:len(r.Positions)]
		}
	}
	t.guess()
	e.queue = append(e.queue, t)
}

// ask has the decoder ask.
func (e *engine) ask(t *task) (more bool, err error) {
	defer e.caught(&err)
	t.ask = Ask{Rows: t.ask.Rows[:0]}
	if t.decoder.Ask(&t.ask) {
		t.ask.Top = max(t.ask.Top, t.job.Top)
		return true, e.check(t)
	}
	Report(t.decoder, &t.result)
	return false, nil
}

// check refuses an ask that no call can answer.
func (e *engine) check(t *task) error {
	if len(t.ask.Rows) == 0 {
		return errors.New("the decoder asks for no canvas")
	}
	if h := t.ask.Head; h != "" && h != HeadRows && h != HeadBest || t.ask.Top < 0 {
		return fmt.Errorf("the decoder asks for head %q and the best %d tokens: must be %s or %s, and at least 0", h, t.ask.Top, HeadRows, HeadBest)
	}
	for _, r := range t.ask.Rows {
		switch {
		case r.Canvas != nil && len(r.Canvas) != t.canvas.Len():
			return fmt.Errorf("the decoder asks about a canvas of %d positions: must be %d", len(r.Canvas), t.canvas.Len())
		case len(r.Positions) == 0:
			return errors.New("the decoder asks for no position")
		case !e.spec.TimeConditioned:
		case math.IsInf(r.Theta, 1) && !e.spec.InfiniteSigma:
			return errors.New("the time-conditioned network has no row at T = ∞: give a finite T")
		case !(r.Theta >= 0):
			return fmt.Errorf("the decoder asks at −log α = %v: must be at least 0", r.Theta)
		}
		for l, id := range r.Canvas {
			if !e.spec.Holds(int(id)) {
				return fmt.Errorf("the decoder asks about a canvas with id %d at position %d: must be in 0..%d, or the mask's id %d", id, l, e.spec.Columns-1, e.spec.Mask)
			}
		}
		if err := e.checkKept(t, r); err != nil {
			return err
		}
		if t.ask.Head == HeadBest && len(r.Uniforms) != len(r.Positions) {
			return fmt.Errorf("the decoder gives %d uniforms for %d positions", len(r.Uniforms), len(r.Positions))
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
	e.totals.Sequences++
	e.totals.Events += r.Events
	t.step.Index, t.step.Result = r.Index, r
}

// end reports how a task ended, and keeps its memory for another.
func (e *engine) end(t *task, err error) {
	if err != nil {
		if ended := t.ctx.Err(); ended != nil {
			err = ended
		} else {
			err = &fault.Error{Package: "samplers", Err: &SequenceError{t.job.Index, err}}
		}
	}
	e.free(t)
	t.ended(t.result, err)
	clear(t.ask.Rows)
	clear(t.rows)
	t.ctx, t.job, t.decoder, t.watch, t.ended = nil, Job{}, nil, nil, nil
	t.canvas.ids, t.canvas.grown = t.canvas.ids[:0], false
	t.step.empty()
	t.result = Result{}
	e.spare = append(e.spare, t)
}
