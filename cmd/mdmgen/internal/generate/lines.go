package generate

import (
	"cmp"
	"context"
	"errors"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/serve"
	"mdmgen/tokenize"
)

// Lines makes jobs of lines of --input one by one, for a command that fills them beside those of others.
type Lines struct {
	o options
	g generation
}

// Flags are those of generate that hold for all lines.
func (l *Lines) Flags() flags.Set {
	all := l.o.flags()
	l.o.input, l.o.format = "-", "jsonl"
	names := append(new(setup.Model).Flags().Names(), new(setup.Tokenizer).Flags().Names()...)
	return all.Only(append(names, "batch", "cache", "cache-memory")...)
}

// Open opens the model and, where there is one, its tokenizer.
func (l *Lines) Open(ctx context.Context, s kit.Streams) (err error) {
	l.g = generation{options: &l.o, ctx: ctx, streams: s}
	if err := l.g.findTokenizer(); err != nil {
		return err
	}
	if l.g.network, err = l.o.model.Open(ctx, s, l.o.all); err != nil {
		return err
	}
	l.g.facts = l.g.network.Facts()
	if err := l.g.prepare(); err != nil {
		return errors.Join(err, l.g.network.Close())
	}
	if l.g.words != nil {
		_, _ = l.g.prompt(nil) // A template is read now; where there is none, a chat is told so.
	}
	return nil
}

// Model is the network, Words its tokenizer, nil where it has none.
func (l *Lines) Model() model.Model         { return l.g.network }
func (l *Lines) Words() *tokenize.Tokenizer { return l.g.words }

// Batch is the greatest number of rows of a call, CacheMemory the bytes that kept keys and values may take.
func (l *Lines) Batch() int         { return l.g.batch() }
func (l *Lines) CacheMemory() int64 { return setup.KeepBytes(l.o.cacheMemory) }

// Piece is the text of a token in the middle of a text, nil without a tokenizer. It belongs to one goroutine.
func (l *Lines) Piece() func(token int) string { return l.g.piece() }

// Job reads a line. fill, where it is not 0, is how many positions are sampled beside what it gives, unless
// it has a length.
func (l *Lines) Job(line []byte, fill int) (out serve.Job, err error) {
	layout := *l.g.layout // Reading a line changes it.
	if fill > 0 {
		layout.Length = canvas.Length{Fill: fill}
	}
	read, err := layout.Object(line)
	if err != nil {
		return out, err
	}
	method, err := l.g.methodOf(read)
	if err != nil {
		return out, err
	}
	j := job{Job: read, method: method, n: cmp.Or(read.Own.N, 1)}
	if err := l.g.fits(j); err != nil {
		return out, err
	}
	return serve.Job{
		Canvas: j.Canvas, Prompt: j.Prompt, N: j.n, Seed: setup.SeedOr(j.Own.Seed), Method: method,
		Sample: func(r samplers.Result) (any, error) { return l.g.sample(&j, r) },
	}, nil
}

// Record is the record of samples of a job, without totals.
func (l *Lines) Record(j serve.Job) any {
	s := l.g.settings
	s.Settings, s.N, s.Seed, s.Length = j.Method.Settings(), j.N, j.Seed, len(j.Canvas)
	return struct {
		Provenance kit.Provenance `json:"provenance"`
		Settings   settings       `json:"settings"`
	}{kit.NewProvenance(l.g.network, l.g.words), s}
}
