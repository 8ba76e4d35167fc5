package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/fault"
	"mdmgen/internal/sysinfo"
	"mdmgen/requests"
	"mdmgen/samplers"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// foreseenSchema names the layout of the JSON of --dry-run.
const foreseenSchema = "mdmgen.dry-run/1"

// Prediction is the predicted cost of a run.
type Prediction struct {
	Schema     string            `json:"schema"`
	Provenance kit.Provenance    `json:"provenance"`
	Settings   requests.Settings `json:"settings"`
	Samples    int               `json:"samples"`
	// Calls is the exact expectation of the calls of all sequences together. It is null if it
	// depends on the network's rows; then only MostCalls is known, which no run exceeds.
	Calls     *float64 `json:"calls"`
	MostCalls int      `json:"most_calls"`
	// NetworkCalls counts calls for full batches of sequences. It uses a sequence's maximum of
	// calls if the expectation is unknown.
	NetworkCalls float64 `json:"network_calls"`
	// SecondsPerCall is the time of one call for a full batch, the sampler's first, after an
	// untimed one; Seconds is SecondsPerCall times NetworkCalls. The time of drawing is not
	// included.
	SecondsPerCall float64 `json:"seconds_per_call"`
	Seconds        float64 `json:"seconds"`
	// KeptBytes is the memory of a cache for a full batch, at most CacheMemory: sequences beyond
	// that wait.
	KeptBytes   int64 `json:"kept_bytes,omitempty"`
	CacheMemory int64 `json:"cache_memory,omitempty"`
	// PeakBytes is the greatest resident memory of the process so far, 0 if it is unknown.
	PeakBytes int64 `json:"peak_bytes,omitempty"`
}

// predict prints the predicted cost of the run. It samples nothing.
func (g *generation) predict() error {
	f := Prediction{Schema: foreseenSchema, Provenance: kit.NewProvenance(g.network, g.words), Settings: g.settings, Samples: g.next}
	calls, longest, known := 0.0, 0.0, true
	var widest job
	for _, j := range g.jobs {
		free := len(g.free(j.Tokens))
		f.MostCalls += j.N * j.Sampler.MostCalls(g.network.Spec(), j.Tokens)
		each, atMost := j.Expected(g.network.Spec())
		if atMost {
			known = false
		}
		calls += float64(j.N) * each
		longest = max(longest, each)
		if free > 0 && len(j.Tokens) > len(widest.Tokens) {
			widest = j
		}
	}
	if known {
		f.Calls = new(calls)
	}
	f.NetworkCalls = math.Ceil(max(longest, calls/float64(g.settings.Batch)))
	if widest.Sampler != nil {
		if err := g.timeCall(&f, widest); err != nil {
			return err
		}
		if f.KeptBytes = g.builder.Bytes(&widest.Job) * int64(min(g.settings.Batch, f.Samples)); f.KeptBytes > 0 {
			f.CacheMemory = setup.KeepBytes(g.cacheMemory)
		}
	}
	f.Seconds, f.PeakBytes = f.SecondsPerCall*f.NetworkCalls, sysinfo.PeakMemory()
	return kit.PrintLine(g.streams.Results, g.format, f, f.text(g.settings.Batch))
}

// timeCall times the first call for a batch of a canvas, on its second run.
func (g *generation) timeCall(f *Prediction, j job) error {
	for range 2 {
		ctx, stop := context.WithCancel(g.ctx)
		totals, err := samplers.Sample(ctx, g.network, samplers.Copies(j.Tokens, 0, min(g.settings.Batch, f.Samples)), samplers.Config{
			Method: j.Sampler, Seed: g.settings.Seed, Batch: g.settings.Batch, OnStep: func(samplers.Step) { stop() },
		}, func(samplers.Result) error { return nil })
		stop()
		if err != nil && (totals.NetworkCalls == 0 || !errors.Is(err, context.Canceled)) || g.ctx.Err() != nil {
			return cmp.Or(g.ctx.Err(), fmt.Errorf("generate: %w", fault.WithoutName(err)))
		}
		f.SecondsPerCall = (totals.Network / time.Duration(max(totals.NetworkCalls, 1))).Seconds()
	}
	return nil
}

func (f *Prediction) text(batch int) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s"+format+"\n", append([]any{name}, args...)...)
	}
	line("samples", "%d", f.Samples)
	if f.Calls != nil {
		line("calls", "%.6g in expectation, %.4g a sample", *f.Calls, *f.Calls/float64(f.Samples))
	} else {
		line("calls", "%d at most: the network's rows, blocks, corrections, guidance, constraints or a cache decide", f.MostCalls)
	}
	about := "about"
	if f.Calls == nil {
		about = "at most about"
	}
	line("network", "%s %.0f %s for up to %s", about, f.NetworkCalls, english.PluralWord(int(f.NetworkCalls), "call", ""), english.Plural(batch, "sample", ""))
	line("seconds", "%s %.2g, a call taking %.2g", about, f.Seconds, f.SecondsPerCall)
	if f.KeptBytes > 0 {
		line("cache", "keeps up to %s of keys and values, of %s; the timed call computes all rows", humanize.IBytes(uint64(f.KeptBytes)), humanize.IBytes(uint64(f.CacheMemory)))
	}
	if f.PeakBytes > 0 {
		line("memory", "%s after such a call", humanize.IBytes(uint64(f.PeakBytes)))
	}
	return b.String()
}
