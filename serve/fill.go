package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve/frame"
)

// take waits until there is room for a canvas. A canvas beyond a limit takes all of it.
func (x *exchange) take(ctx context.Context, length int, kept int64) (free func(), err error) {
	leave, err := x.hold(ctx, x.s.positions, int64(min(length, x.s.Positions)))
	if err != nil {
		return nil, err
	}
	kept = min(kept, x.s.CacheMemory)
	if err := x.s.memory.Acquire(ctx, kept); err != nil {
		leave()
		return nil, err
	}
	return func() { x.s.memory.Release(kept); leave() }, nil
}

// enter takes a place in the queue; leave releases it.
func (x *exchange) enter() (leave func(), err error) {
	x.free()
	if !x.s.queue.TryAcquire(1) {
		return nil, &Refusal{status: http.StatusTooManyRequests, Message: fmt.Sprintf("%d requests are waiting: try again later", x.s.Queue), Type: "rate_limit_error", Code: "queue_full"}
	}
	x.s.metrics.waiting.Inc()
	return func() { x.s.metrics.waiting.Dec(); x.s.queue.Release(1) }, nil
}

// fill fills the canvases of jobs as there is room. It calls each with every step, one at a time;
// the step has the number of its sample among all, top alternatives of each token, and frames if
// diffusing is set. An error of each ends the request, but errEnded only the sample. An idle stream gets a
// comment at intervals.
func (x *exchange) fill(jobs []requests.Job, top int, diffusing bool, each func(samplers.Step, []frame.Frame) error) error {
	leave, err := x.enter()
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(x.r.Context())
	all.SetLimit(1 + 2*x.s.Batch) // More samples of one request would only keep others out.
	var turn sync.Mutex
	all.Go(func() error {
		defer leave()
		frames, number := frame.Maker{Mask: x.s.Model.Facts().MaskID, Piece: x.s.Words.Piece(), Begin: time.Now()}, uint64(0)
		for i := range jobs {
			j := &jobs[i]
			least := -1 // Other samples share what one of them computed.
			for range j.N {
				free, err := x.take(ctx, max(len(j.Tokens), j.Sampler.Settings().MaxLength), x.s.requests.Bytes(j))
				if err != nil {
					return err
				}
				sample := number
				number++
				all.Go(func() error {
					defer free()
					begun := false
					return x.s.steps(ctx, samplers.Job{Canvas: j.Tokens, Method: j.Sampler, Seed: *j.Seed, Index: sample, Top: top, Turn: &x.turn, Apart: x.apart()}, func(step samplers.Step) error {
						turn.Lock()
						defer turn.Unlock()
						step.Index = sample
						if x.add(step); !begun && (least < 0 || step.Cached < least) {
							x.meta.cached += step.Cached - max(least, 0)
							least = step.Cached
						}
						begun = true
						if !diffusing {
							return each(step, nil)
						}
						return each(step, frames.Step(step, j.Tokens))
					})
				})
			}
		}
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- all.Wait() }()
	for quiet := time.Tick(keepAlive); ; {
		select {
		case err := <-ended:
			return err
		case <-quiet:
			turn.Lock()
			if x.stream && x.form.idle != "" {
				_ = x.write(x.form.idle) // The next event reports a write error.
			}
			turn.Unlock()
		}
	}
}

// steps runs a job in the engine, until the first error of each. A panic of the method is an error
// of this request only.
func (s *Server) steps(ctx context.Context, j samplers.Job, each func(samplers.Step) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			s.Log.Error("a method panicked", "panic", value)
			err = errors.New("the sampler failed")
		}
	}()
	for step, err := range s.engine.Sample(ctx, j) {
		if wrong, ok := errors.AsType[*samplers.SequenceError](err); ok {
			err = wrong.Err
		}
		if err == nil {
			err = each(step)
		}
		if err == errEnded {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errEnded ends a sample whose answer is complete.
var errEnded = errors.New("the answer is complete")

// Usage counts the given tokens and those of the answer.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	// PromptTokensDetails has the given tokens whose rows were kept from other requests, if any.
	PromptTokensDetails *PromptTokensDetails `json:"prompt_tokens_details,omitempty"`
}

// PromptTokensDetails is OpenAI's.
type PromptTokensDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

// Timings holds the milliseconds from the request to its first step and to its end, and the number
// of sampled positions.
type Timings struct {
	FirstMS            float64 `json:"first_ms"`
	PredictedMS        float64 `json:"predicted_ms"`
	PredictedN         int     `json:"predicted_n"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
}

// Meta describes how an answer was made. NFE counts the network calls that its samples took part
// in.
type Meta struct {
	Usage             *Usage  `json:"usage,omitempty"`
	Seed              uint64  `json:"seed"`
	NFE               int     `json:"nfe"`
	SystemFingerprint string  `json:"system_fingerprint"`
	Timings           Timings `json:"timings"`
	cached            int
}

// MaxSamples is the maximum number of samples of a request.
const MaxSamples = 128

// begin counts the given tokens, and returns an error if the prompts together have too many
// samples.
func (x *exchange) begin(jobs []requests.Job) error {
	x.meta = Meta{Usage: &Usage{}, Seed: *jobs[0].Seed, SystemFingerprint: x.s.Fingerprint}
	samples := 0
	spec := x.s.Model.Spec()
	for _, j := range jobs {
		samples += j.N
		x.meta.Usage.PromptTokens += len(j.Tokens) - len(spec.Masked(j.Tokens))
	}
	if samples > MaxSamples {
		return refuse(http.StatusBadRequest, "n", fmt.Sprintf("n is %d: must be in 1..%d", jobs[0].N, MaxSamples/len(jobs)))
	}
	return nil
}

// add counts a step.
func (x *exchange) add(step samplers.Step) {
	if x.meta.Timings.FirstMS == 0 {
		x.meta.Timings.FirstMS = x.ms()
		x.s.metrics.first.Observe(x.meta.Timings.FirstMS / 1e3)
	}
	x.meta.NFE += min(step.Rows, 1)
	x.meta.Timings.PredictedN += step.Filled
}

// made returns the Meta after the last step, for answers of the given number of tokens.
func (x *exchange) made(tokens int) *Meta {
	m := x.meta
	m.Usage = &Usage{PromptTokens: m.Usage.PromptTokens, CompletionTokens: tokens, TotalTokens: m.Usage.PromptTokens + tokens}
	if m.cached > 0 {
		m.Usage.PromptTokensDetails = &PromptTokensDetails{m.cached}
	}
	m.Timings.PredictedMS = x.ms()
	m.Timings.PredictedPerSecond = float64(m.Timings.PredictedN) / max(m.Timings.PredictedMS, 1e-3) * 1e3
	return &m
}

func (x *exchange) ms() float64 { return float64(time.Since(x.began).Microseconds()) / 1e3 }
