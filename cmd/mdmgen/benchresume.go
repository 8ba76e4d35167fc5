package main

import (
	"bufio"
	"bytes"

	"mdmgen/analysis/bench"
)

// benchResumeSchema names the layout of the file that bench's --resume keeps: a header, then
// a record a line, as --format jsonl prints them.
const benchResumeSchema = "mdmgen.bench-resume/1"

// benchHeader is what the numbers depend on besides model and seed: not how long a run may
// take, and not how its results are written.
type benchHeader struct {
	Cells       []string               `json:"cells"`
	Threads     []int                  `json:"threads"`
	Sequences   int                    `json:"sequences"`
	Repetitions int                    `json:"repetitions"`
	Prefix      string                 `json:"prefix"`
	Profile     string                 `json:"profile"`
	Facts       []string               `json:"facts"`
	Quality     *bench.QualitySettings `json:"quality"`
}

// openJournal reads the file of --resume, if there is one, and makes it ready for more. A
// seed that was not given is the file's.
func (r *benching) openJournal() error {
	if !r.c.IsSet("resume") {
		return nil
	}
	j, was, rest, err := readJournal(r.c.String("resume"), benchResumeSchema)
	if err != nil {
		return err
	}
	if was != nil && !r.c.IsSet("seed") {
		r.settings.Seed = was.Seed
		r.quality.cfg.Seed = was.Seed
	}
	settings := benchHeader{
		Sequences: r.settings.Sequences, Repetitions: r.settings.Repetitions, Prefix: r.settings.Prefix, Profile: r.settings.Profile, Quality: r.settings.Quality,
		Facts: append(r.c.StringSlice("fact"), r.c.String("sidecar")),
	}
	for i := range r.cells {
		settings.Cells, settings.Threads = append(settings.Cells, r.cells[i].ID), append(settings.Threads, r.threads(&r.cells[i]))
	}
	header := newHeader(benchResumeSchema, r.cells[0].Model)
	header.Seed, header.Settings = r.settings.Seed, settings
	if err := j.agree(was, header); err != nil {
		return err
	}
	scan := bufio.NewScanner(bytes.NewReader(rest))
	scan.Buffer(nil, 1<<30)
	for n := 2; scan.Scan(); n++ {
		if err := r.log.Read(scan.Bytes()); err != nil {
			return usagef("--resume %s:%d: %s", j.path, n, bare(err))
		}
	}
	if err := scan.Err(); err != nil {
		return usagef("--resume %s: %v", j.path, err)
	}
	if err := r.log.Check(r.cells, r.settings, r.quality.errors, len(r.quality.cfg.Targets)); err != nil {
		return usagef("--resume %s: %s", j.path, bare(err))
	}
	if err := j.begin(header); err != nil {
		return err
	}
	r.journal = j
	return nil
}

// keep writes a finished record to the journal, and prints it where records are the results.
func (r *benching) keep(record any) error {
	line, err := marshalText(record)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if r.journal != nil {
		if err := r.journal.append(line); err != nil {
			return err
		}
	}
	return r.outputs.record(line)
}
