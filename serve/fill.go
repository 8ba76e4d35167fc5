package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"mdmgen/samplers"
)

// budget is what all requests share: a place in the queue for those that are not wholly under way, and the
// positions and kept bytes of canvases that are. Those that wait take their turn in the order in which they came.
type budget struct {
	queue, positions, kept *semaphore.Weighted
	queued, most, bytes    int64
	net                    samplers.Network
}

func newBudget(c *Config) *budget {
	b := &budget{queued: int64(c.Queue), most: int64(c.Positions), bytes: c.CacheMemory, net: c.Model}
	b.queue, b.positions, b.kept = semaphore.NewWeighted(b.queued), semaphore.NewWeighted(b.most), semaphore.NewWeighted(b.bytes)
	return b
}

// take waits until there is room for a canvas of a job; one that is larger than all that there is gets all.
func (b *budget) take(ctx context.Context, j *Job) (free func(), err error) {
	set := j.Method.Settings()
	length := max(len(j.Canvas), set.MaxLength)
	positions, kept := min(int64(length), b.most), int64(0)
	if keeper, ok := b.net.(samplers.Keeper); ok && set.Cache != "" {
		kept = min(int64(j.Method.Canvases())*keeper.KeptBytes(length), b.bytes)
	}
	if err := b.positions.Acquire(ctx, positions); err != nil {
		return nil, err
	}
	if err := b.kept.Acquire(ctx, kept); err != nil {
		b.positions.Release(positions)
		return nil, err
	}
	return func() { b.kept.Release(kept); b.positions.Release(positions) }, nil
}

// event is a step of a sample of a request, or how it failed.
type event struct {
	sample int
	job    *Job
	step   samplers.Step
	err    error
}

// keepAlive is how often a stream writes something where nothing happens.
const keepAlive = 10 * time.Second

// fill fills the canvases of jobs, and hands each step of a sample, which has the number that it has among
// all, to a function whose error ends them. alive is called where nothing happens for a while.
func (x *exchange) fill(jobs []Job, each func(event) error, alive func() error) error {
	if !x.s.budget.queue.TryAcquire(1) {
		return &Refusal{status: http.StatusTooManyRequests, Message: fmt.Sprintf("%d requests are waiting: try again later", x.s.Queue), Type: "rate_limit_error", Code: "queue_full"}
	}
	ctx, cancel := context.WithCancel(x.r.Context())
	events := make(chan event)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() {
		defer close(events)
		x.begin(ctx, jobs, events)
	})
	idle := time.NewTicker(keepAlive)
	defer idle.Stop()
	for {
		var err error
		select {
		case e, more := <-events:
			if !more {
				return ctx.Err()
			}
			if err = e.err; err == nil {
				err = each(e)
			}
			idle.Reset(keepAlive)
		case <-idle.C:
			err = alive()
		}
		if err != nil {
			return err
		}
	}
}

// begin has the samples of jobs filled as there is room, and returns when all have ended.
func (x *exchange) begin(ctx context.Context, jobs []Job, events chan<- event) {
	var running sync.WaitGroup
	defer running.Wait()
	defer x.s.budget.queue.Release(1)
	number := 0
	for i := range jobs {
		j := &jobs[i]
		for index := range j.N {
			free, err := x.s.budget.take(ctx, j)
			if err != nil {
				send(ctx, events, event{err: err})
				return
			}
			sample := number
			number++
			running.Go(func() {
				defer free()
				x.s.sample(ctx, j, index, func(step samplers.Step, err error) bool {
					return send(ctx, events, event{sample, j, step, err})
				})
			})
		}
	}
}

func send(ctx context.Context, to chan<- event, e event) bool {
	select {
	case to <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// sample has the engine fill a canvas. A panic of its method is the error of this request alone.
func (s *Server) sample(ctx context.Context, j *Job, index int, yield func(samplers.Step, error) bool) {
	defer func() {
		if value := recover(); value != nil {
			s.Log.Error("a method panicked", "panic", value)
			yield(samplers.Step{}, errors.New("the sampler failed"))
		}
	}()
	for step, err := range s.engine.Sample(ctx, samplers.Job{Canvas: j.Canvas, Method: j.Method, Seed: j.Seed, Index: uint64(index)}) {
		var wrong *samplers.SequenceError
		if errors.As(err, &wrong) {
			err = wrong.Err
		}
		if !yield(step, err) {
			return
		}
	}
}

// Usage counts tokens: those given, and those of the answer.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// Timings are the milliseconds from the request to its first step and to its end, and what was sampled in them.
type Timings struct {
	FirstMS            float64 `json:"first_ms"`
	PredictedMS        float64 `json:"predicted_ms"`
	PredictedN         int     `json:"predicted_n"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
}

// Meta is what every answer says of how it was made. NFE counts the calls of the network that its samples
// took part in.
type Meta struct {
	Usage             *Usage  `json:"usage,omitempty"`
	Seed              uint64  `json:"seed"`
	NFE               int     `json:"nfe"`
	SystemFingerprint string  `json:"system_fingerprint"`
	Timings           Timings `json:"timings"`
}

// tally adds up the steps of a request.
type tally struct {
	x    *exchange
	meta Meta
	// prompts is the number of canvases whose given positions are counted.
	prompts []*Job
}

func (x *exchange) tally(jobs []Job) *tally {
	return &tally{x: x, meta: Meta{Usage: &Usage{}, Seed: jobs[0].Seed, SystemFingerprint: x.s.Fingerprint}}
}

// step adds a step.
func (t *tally) step(e event) {
	if t.meta.Timings.FirstMS == 0 {
		t.meta.Timings.FirstMS = t.ms()
	}
	if r := e.step.Result; r != nil {
		t.meta.NFE += r.Calls + r.FinishCalls
		free := len(r.IDs) - len(e.job.Canvas)
		for _, id := range e.job.Canvas {
			if id == t.x.s.Model.Facts().MaskID {
				free++
			}
		}
		t.meta.Timings.PredictedN += free
		if !slices.Contains(t.prompts, e.job) {
			t.prompts = append(t.prompts, e.job)
			t.meta.Usage.PromptTokens += len(r.IDs) - free
		}
	}
}

// end is what there is to say behind the last step.
func (t *tally) end() Meta {
	m := &t.meta
	m.Usage.TotalTokens = m.Usage.PromptTokens + m.Usage.CompletionTokens
	m.Timings.PredictedMS = t.ms()
	m.Timings.PredictedPerSecond = float64(m.Timings.PredictedN) / max(m.Timings.PredictedMS, 1e-3) * 1e3
	return *m
}

func (t *tally) ms() float64 { return float64(time.Since(t.x.began).Microseconds()) / 1e3 }
