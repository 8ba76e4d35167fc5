package serve

import (
	"fmt"
	"net/http"
	"time"
)

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

// maxSamples bounds the samples of a request.
const maxSamples = 128

// begin counts what is given, and refuses more samples than a request may have.
func (x *exchange) begin(jobs []Job) error {
	x.meta = Meta{Usage: &Usage{}, Seed: jobs[0].Seed, SystemFingerprint: x.s.Fingerprint}
	samples := 0
	for _, j := range jobs {
		samples += j.N
		x.meta.Usage.PromptTokens += x.s.given(&j)
	}
	if samples > maxSamples {
		return refuse(http.StatusBadRequest, "n", fmt.Sprintf("%d samples: at most %d a request", samples, maxSamples))
	}
	return nil
}

// given is the number of positions that are not sampled.
func (s *Server) given(j *Job) (n int) {
	for _, id := range j.Canvas {
		if id != s.Model.Facts().MaskID {
			n++
		}
	}
	return n
}

// add counts a step.
func (x *exchange) add(e event) {
	if x.meta.Timings.FirstMS == 0 {
		x.meta.Timings.FirstMS = x.ms()
		x.s.metrics.first.Observe(x.meta.Timings.FirstMS / 1e3)
	}
	if r := e.Result; r != nil {
		x.meta.NFE += r.Calls + r.FinishCalls
		x.meta.Timings.PredictedN += len(r.IDs) - x.s.given(e.job)
	}
}

// made is what there is to say behind the last step, whose answers have so many tokens.
func (x *exchange) made(tokens int) *Meta {
	m := x.meta
	m.Usage = &Usage{m.Usage.PromptTokens, tokens, m.Usage.PromptTokens + tokens}
	m.Timings.PredictedMS = x.ms()
	m.Timings.PredictedPerSecond = float64(m.Timings.PredictedN) / max(m.Timings.PredictedMS, 1e-3) * 1e3
	return &m
}

func (x *exchange) ms() float64 { return float64(time.Since(x.began).Microseconds()) / 1e3 }
