package samplers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// Job is a canvas to fill.
type Job struct {
	// Canvas holds ids, MASK at the positions to be sampled. It is not changed, and
	// several jobs may share it.
	Canvas []int
	// Method fills it.
	Method Method
	// Draw configures how tokens are drawn from rows. The zero value selects the settings of a
	// method that implements [OwnSettings], and the network's distribution for other methods.
	Draw draw.Settings
	// Seed and Index determine the random numbers.
	Seed, Index uint64
	// Top is [Config.Top].
	Top int
	// Apart names the jobs that share rows of a [Store] only with each other.
	Apart string
	// Turn is shared by the jobs of one request, so that requests take turns rather than jobs; nil for
	// a job alone.
	Turn *Turn
}

// Turn holds the time that an [Engine] has spent on a request. Of is that of the client, which its
// requests share, so that clients take turns; nil for a client that all such requests share. Only the
// engine uses them.
type Turn struct {
	Of    *Turn
	spent time.Duration
}

// charge adds a part of the time since begin.
func (t *Turn) charge(begin time.Time, parts int) {
	if t != nil {
		spent := time.Since(begin) / time.Duration(parts)
		t.spent += spent
		t.Of.spent += spent
	}
}

// Totals are sums over a run.
type Totals struct {
	// Sequences counts finished sequences; Calls and FinishCalls are sums over all sequences,
	// including unfinished ones.
	Sequences, Calls, FinishCalls int
	// NetworkCalls counts network calls, each for several sequences. Rows counts their canvases,
	// Positions the computed positions of these, Cached those that a [Store] had, and Tokens the drawn
	// tokens.
	NetworkCalls, Rows, Positions, Cached, Tokens int
	// Kept is the memory, in bytes, that unfinished sequences keep ([Keeper]), and MostKept its
	// greatest value so far.
	Kept, MostKept int64
	// Network and Sampling add up to the duration of the run.
	Network, Sampling time.Duration
}

// task is a running job.
type task struct {
	ctx    context.Context
	job    Job
	canvas Canvas
	draws  draw.Numbers
	// ask is the decoder's current request. The first sent of its rows have been put in calls; rows
	// or best holds the answers so far. head is the head requested of the network.
	decoder Decoder
	ask     Ask
	head    Head
	sent    int
	rows    []draw.Row
	best    [][]draw.Result
	// complete reports whether the last of its rows was in the call that is being taken.
	complete bool
	draw     draw.Categorical
	step     Step
	edit     Edit
	result   Result
	// kept holds the task's sets of keys and values, for canvases of keptLength, and keptBytes is
	// their counted size. guesses holds copies for the rows of ask that are guesses.
	kept       []Kept
	guesses    []Kept
	keptLength int
	keptBytes  int64
	shared
	// index is the index in steps and the result: the job's, or that of a sequence with its own stream.
	index uint64
	// watch is called with every step, which is valid during the call; it may be nil. ended is
	// called at the end of the task, with a nil err if it finished.
	watch func(Step)
	ended func(Result, error)
}

// engine runs tasks on one goroutine. A network call holds rows of tasks whose canvases have one
// length and that ask for one head, those that have waited longest first, whatever their times.
type engine struct {
	net    Network
	drawer Drawer // nil if the network does not draw
	keeper Keeper // nil if the network keeps nothing
	spec   Spec
	// keep bounds the memory for keys and values; 0 is no bound.
	keep  int64
	store *Store // nil if no rows are shared
	batch int
	// canvases is the factor by which the next call may have more rows than batch, within
	// lookaheadPositions.
	canvases int
	// queue holds the tasks that wait for rows, the longest waiting first.
	queue []*task
	// draw holds memory that all tasks share for drawing.
	draw *draw.Categorical
	// shared reports whether tasks have callers of their own, which receive the panics of their methods.
	shared bool
	// order is the queue in the order of turns, and shortest reports whether it is that of the time spent
	// on requests too; lead is how much longer other calls took. anyone is the client of requests without
	// one, and now the time spent on the client that was last chosen.
	order     []*task
	shortest  bool
	lead, now time.Duration
	anyone    Turn

	call []place
	// The following hold memory reused by calls.
	asked   Call
	drawing Drawing
	best    []draw.Best
	draws   []draw.Position

	totals Totals
	spare  []*task
}

// place is a row of a call: row number row of a task's ask.
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

// admit starts a job, with index as the index of its steps. It makes no network call. A job that
// asks for nothing ends here.
func (e *engine) admit(ctx context.Context, job Job, index uint64, watch func(Step), ended func(Result, error)) {
	var t *task
	if n := len(e.spare); n > 0 {
		t, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		t = new(task)
	}
	if e.shared {
		turn := cmp.Or(job.Turn, new(Turn))
		turn.Of = cmp.Or(turn.Of, &e.anyone)
		turn.Of.spent = max(turn.Of.spent, e.now) // A client has no claim for the time before it came.
		job.Turn = turn
		defer turn.charge(time.Now(), 1)
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
	t.canvas.categorical = &t.draw
	t.decoder, err = method.Start(&t.canvas, &t.draws)
	return err
}

// next calls the decoder's Ask. It ends the task if the decoder is done, and otherwise puts it in
// the queue.
func (e *engine) next(t *task) {
	more, err := e.ask(t)
	if !more && err == nil {
		e.finish(t)
	}
	if t.watch != nil && (t.result.Rows > 0 || t.step.Result != nil) {
		// This is the step of the previous call: only now is it known whether it was the last.
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

// ask calls the decoder's Ask and checks the request.
func (e *engine) ask(t *task) (more bool, err error) {
	defer e.caught(&err)
	t.ask = Ask{Rows: t.ask.Rows[:0]}
	if t.decoder.Ask(&t.ask) {
		t.ask.Top = max(t.ask.Top, t.job.Top)
		for i := range t.ask.Rows {
			t.ask.Rows[i].Block = cmp.Or(t.ask.Rows[i].Block, t.canvas.Block())
		}
		return true, e.check(t)
	}
	Report(t.decoder, &t.result)
	return false, nil
}

// check returns an error for a request that no call can answer.
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
		if fault := r.Block.fault(t.canvas.Len(), r.Positions); fault != "" && e.spec.Causal {
			return errors.New(fault)
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

// finish completes the result.
func (e *engine) finish(t *task) {
	r := &t.result
	r.IDs = make([]int, t.canvas.Len())
	for l, id := range t.canvas.ids {
		if r.IDs[l] = int(id); r.IDs[l] == e.spec.Mask {
			r.Left++
		}
	}
	e.totals.Sequences++
	t.step.Index, t.step.Result = r.Index, r
}

// end reports how a task ended, and keeps its memory for reuse.
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
	t.canvas.ids, t.canvas.grown, t.canvas.block = t.canvas.ids[:0], false, Span{}
	t.step.empty()
	t.result = Result{}
	e.spare = append(e.spare, t)
}
