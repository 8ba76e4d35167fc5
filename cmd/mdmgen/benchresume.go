package main

import (
	"encoding/json"
	"errors"

	"mdmgen/analysis/bench"
)

// benchResumeSchema names the layout of the file that bench's --resume keeps: a header, then
// a record a line, as --format jsonl prints them.
const benchResumeSchema = "mdmgen.bench-resume/2"

// benchHeader is what the numbers depend on besides model and seed: not how long a run may
// take, nor how its results are set beside each other and written.
type benchHeader struct {
	Cells []string `json:"cells"`
	// Batches and Threads are those in force, cell by cell.
	Batches     []int                  `json:"batches"`
	Threads     []int                  `json:"threads"`
	Device      string                 `json:"device"`
	Sequences   int                    `json:"sequences"`
	Repetitions int                    `json:"repetitions"`
	Warmup      int                    `json:"warmup"`
	Confidence  float64                `json:"confidence"`
	Prefix      string                 `json:"prefix"`
	Profile     string                 `json:"profile"`
	Quality     *bench.QualitySettings `json:"quality"`
}

// openJournal reads the file of --resume, if there is one, and makes it ready for more. A
// seed that was not given is the file's.
func (r *benching) openJournal() (err error) {
	if !r.c.IsSet("resume") {
		return nil
	}
	j, err := openJournal(r.c, benchResumeSchema)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			j.Close()
			err = resumeError(err)
		}
	}()
	if seed, ok := seedOf(j); ok && !r.c.IsSet("seed") {
		r.settings.Seed = seed
		r.quality.cfg.Seed = seed
	}
	header := newIdentity(benchResumeSchema, newProvenance(r.cells[0].Model, r.tokenizer), r.settings.Seed, r.header())
	if err := j.Agree(header); err != nil {
		return err
	}
	if err := j.Records(func(record json.RawMessage) error {
		if err := r.log.Read(record); err != nil {
			return errors.New(bare(err))
		}
		return nil
	}); err != nil {
		return err
	}
	if err := r.log.Check(r.cells, r.settings, r.quality.errors, len(r.quality.cfg.Targets), r.quality.certificates); err != nil {
		return usagef("--resume %s: %s", r.c.String("resume"), bare(err))
	}
	if err := j.Begin(header); err != nil {
		return err
	}
	r.journal = j
	return nil
}

func (r *benching) header() benchHeader {
	s := r.settings
	out := benchHeader{
		Device: r.c.String("device"), Sequences: s.Sequences, Repetitions: s.Repetitions, Warmup: s.Warmup, Confidence: s.Confidence,
		Prefix: s.Prefix, Profile: s.Profile, Quality: s.Quality,
	}
	for i := range r.cells {
		c := &r.cells[i]
		out.Cells, out.Batches, out.Threads = append(out.Cells, c.ID), append(out.Batches, c.Batch), append(out.Threads, r.threads(c))
	}
	return out
}

// keep writes a finished record to the journal, and prints it where records are the results.
func (r *benching) keep(record any) error {
	if r.journal != nil {
		if err := r.journal.Append(record); err != nil {
			return resumeError(err)
		}
	}
	line, err := marshalText(record)
	if err != nil {
		return err
	}
	return r.outputs.record(append(line, '\n'))
}
