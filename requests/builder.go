package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/match"
	"mdmgen/samplers/spread"
)

// Config is what requests have in common.
type Config struct {
	Network model.Model
	// Words gives texts their ids; nil for a network without a tokenizer.
	Words *Words
	// Length, KeepBlank, Options and Patterns are those of requests without their own, and N their
	// number of samples; 0 is 1.
	Length    Length
	N         int
	KeepBlank bool
	// Calls, if not 0, is the number of network calls of the sampler in Options, whose steps follow
	// from each canvas.
	Calls    int
	Options  catalog.Options
	Patterns []Pattern
	// Fit, if not nil, completes the options of a sampler by what is known of the network: the
	// interactions of spread, and the cache auto on a canvas, which is nil for requests of any length.
	Fit func(ctx context.Context, o *catalog.Options, canvas []int) error
	// Gaps are the named gaps for Patterns, if all requests have the same.
	Gaps map[string]Gap
	// MaxN is the maximum number of samples of a request in JSON; 0 is [MaxSamples].
	MaxN int
	// Compile waits until a pattern may be compiled, and done ends that; nil for no waiting.
	Compile func(context.Context) (done func(), err error)
	// Record is the beginning of the settings of each record: what is known of the run beyond the
	// requests and the network.
	Record Settings
}

// Builder makes jobs of requests. It may be used concurrently.
type Builder struct {
	Config
	// sampler is that of requests without settings.
	sampler *catalog.Sampler

	// languages are kept, as many as maxKept has room for. last is the last vocabulary that was used,
	// in which tokens are suppressed.
	mu         sync.Mutex
	languages  map[language]*match.Language
	kept       int
	last       *match.Vocabulary
	suppressed string
}

// New checks the options and patterns and returns a builder. Its errors are of the same kinds as those
// of [Builder.Job].
func New(ctx context.Context, c Config) (*Builder, error) {
	b := &Builder{Config: c, languages: make(map[language]*match.Language)}
	var err error
	if b.Options, err = b.matched(ctx, c.Patterns, c.Gaps, c.Options); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	if err := b.fit(ctx, &b.Options, nil); err != nil {
		return nil, err
	}
	o := b.Options
	if b.fitsCaches() {
		o.Cache, o.CacheCost = "", 0 // Each canvas has its own.
	}
	if b.sampler, err = catalog.New(o, c.Network.Spec()); err != nil {
		return nil, wrong("", err)
	}
	b.Record.Settings, b.Record.Head = b.sampler.Settings(), b.sampler.Head(c.Network)
	b.Record.Renormalised, b.Record.Match = c.Network.Facts().Output == facts.LogScore, c.Patterns
	if d, ok := c.Network.(model.Describer); ok {
		b.Record.Threads = d.Origin().Threads
	}
	return b, nil
}

// fitsCaches reports whether the cache of a request without settings depends on its canvas.
func (b *Builder) fitsCaches() bool { return b.Fit != nil && b.Options.Cache == "auto" }

func (b *Builder) fit(ctx context.Context, o *catalog.Options, canvas []int) error {
	switch {
	case b.Fit != nil:
		return b.Fit(ctx, o, canvas)
	case o.Cache == "auto" && b.Network.Spec().BlockSize == 0:
		return wrong("", fault.Errorf("samplers", "cache auto: caches are not measured here: name one, such as window:8/64"))
	}
	return nil
}

// Sampler returns the sampler of requests without settings.
func (b *Builder) Sampler() *catalog.Sampler { return b.sampler }

// Parse parses a request in JSON: see the function [Parse].
func (b *Builder) Parse(object []byte) (Request, error) { return Parse(object, b.MaxN) }

// Job is a canvas to be filled N times, and how.
type Job struct {
	Canvas
	N int
	// Seed and Patterns are the request's own, nil for the default. Own reports whether Sampler is
	// its own, too.
	Seed     *uint64
	Patterns []Pattern
	Sampler  *catalog.Sampler
	Own      bool
}

// Job makes the job of a request. An error of the request is an [*Error]; others are those of opening
// the tokenizer, of the chat template and of the context.
func (b *Builder) Job(ctx context.Context, r Request) (j Job, err error) {
	j = Job{N: cmp.Or(r.N, b.N, 1), Seed: r.Seed, Patterns: r.Patterns, Sampler: b.sampler}
	if j.Canvas, err = b.Layout(r).Canvas(r); err != nil {
		return j, err
	}
	matches := r.Patterns != nil || b.Patterns != nil && r.Options.SuppressTokens != ""
	base := b.Options
	if r.Messages != nil && r.Options.Sampler == "" && !r.Calls {
		if base, err = Decoder(b.Network.Facts(), b.Words, base); err != nil {
			return j, err
		}
	}
	if j.Own = r.Options.Sampler != "" || r.Set != nil || matches || base.Sampler != b.Options.Sampler || b.fitsCaches() || b.Calls > 0; j.Own {
		patterns := r.Patterns
		if patterns == nil {
			patterns = b.Patterns
		}
		o, err := r.over(base)
		if err != nil {
			return j, wrong("", err)
		}
		if matches {
			if o, err = b.matched(ctx, patterns, j.Gaps, o); err != nil {
				return j, cmp.Or(ctx.Err(), err)
			}
		}
		if err := b.solve(&o, &r, j.Tokens); err != nil {
			return j, err
		}
		if err := b.fit(ctx, &o, j.Tokens); err != nil {
			return j, err
		}
		if j.Sampler, err = catalog.New(o, b.Network.Spec()); err != nil {
			return j, wrong("", err)
		}
	}
	return j, wrong("", b.check(j))
}

// Expected returns the expected number of calls of a sample, or the maximum (atMost) if the expectation
// depends on the network's rows.
func (j *Job) Expected(spec samplers.Spec) (calls float64, atMost bool) {
	if calls, finish, err := j.Sampler.ExpectedCalls(len(spec.Masked(j.Tokens))); err == nil && !math.IsNaN(calls) {
		return calls + finish, false
	}
	return float64(j.Sampler.MostCalls(spec, j.Tokens)), true
}

// solve sets the steps of a sampler without groups by the number of calls that a request asks for.
func (b *Builder) solve(o *catalog.Options, r *Request, canvas []int) (err error) {
	calls := b.Calls
	if r.Calls {
		calls = r.Options.Steps
	} else if r.Options.Sampler != "" || slices.Contains(r.Set, "steps") {
		return nil
	}
	d, _ := catalog.Describe(o.Sampler)
	if calls == 0 || d.InGroups() {
		return nil
	}
	spec := b.Network.Spec()
	o.Steps, _, err = catalog.AtCalls(*o, spec, len(spec.Masked(canvas)), calls)
	if err != nil {
		err = fmt.Errorf("calls: %d calls of %s: %w: leave calls out, or use the sampler %s", calls, d.Name, fault.WithoutName(err), spread.Spread.Name)
	}
	return wrong("calls", err)
}

// Layout returns the layout of the canvas of a request, which may grow by its own options.
func (b *Builder) Layout(r Request) Layout {
	return Layout{b.Network.Facts(), b.Words, b.Length, cmp.Or(r.Options.BlockLength, b.Options.BlockLength), cmp.Or(r.Options.MaxLength, b.Options.MaxLength),
		// A pattern of a gap may not begin with a blank.
		b.KeepBlank || r.KeepBlank || b.Patterns != nil || r.Patterns != nil}
}

// check checks that sizes, an order or a negative prompt fit the canvas, and that it has the first
// token if the network has no row for that.
func (b *Builder) check(j Job) error {
	facts := b.Network.Facts()
	if facts.Shift && j.Tokens[0] == facts.MaskID {
		return errors.New("this network predicts position l from row l−1, and so needs the first token: begin with a prefix or an id")
	}
	set := j.Sampler.Settings()
	err := j.Sampler.Check(b.Network.Spec(), j.Tokens)
	switch most := set.MaxLength; {
	case err != nil:
	case most > 0 && facts.FixedLength:
		err = fmt.Errorf("max-length %d: the model takes canvases of exactly %d positions, which cannot grow: leave it out", most, facts.Length)
	case most > facts.Length:
		err = fmt.Errorf("max-length %d: the model takes canvases of at most %d positions", most, facts.Length)
	case set.Cache != "":
		err = cache.Check(b.Network)
	}
	return err
}

// Bytes returns the memory in bytes for the cached keys and values of one of the job's samples.
func (b *Builder) Bytes(j *Job) int64 {
	set := j.Sampler.Settings()
	if keeper, ok := b.Network.(samplers.Keeper); ok && set.Cache != "" {
		return int64(j.Sampler.Canvases()) * keeper.KeptBytes(max(len(j.Tokens), set.MaxLength))
	}
	return 0
}
