// Package bench is the command that measures what samplers cost and what more steps buy.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/tokenize"
)

// Command is the command bench.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "bench",
		Usage:     "measure the cost of samplers and what more steps gain",
		Arguments: "[MODEL]",
		Description: "mdmgen bench --sampler fhs,euler,tweedie --steps 8-128*2 --max-time 5m --html bench.html\n" +
			"mdmgen bench --length 8 --sampler tweedie --grid uniform,lambda --steps 4-64*2 --quality error\n" +
			"mdmgen bench --case fhs --case 'tweedie steps=8,16' --format csv > new.csv\n" +
			"mdmgen bench --calls 4,8,16 --sampler tweedie,spread,confidence -o table.tex\n\n" +
			"Without flags it compares the default sampler with three others, in a minute. Else it runs the cross\n" +
			"product of samplers and settings. Each setting may be a list (8,16,32) or a range (8-1024*2,\n" +
			"4-16+4), and applies to the samplers that use it. With --calls each sampler gets the steps whose expected calls\n" +
			"are within 10 % of the number, and the results name the samplers that have none. Cells run in rounds, in random\n" +
			"order, with the same random streams in a round. With --max-time every cell is measured once before any is\n" +
			"repeated, half of the time is for --quality, and the results name what is missing. If a cell fails, the others\n" +
			"are finished, and the exit status is 1.\n\n" +
			"Times are of sampling alone, without opening and warming up. Calls are network calls per sequence. tokens/s are\n" +
			"sampled tokens per second of wall-clock time. CSV and JSON have more columns than the table.\n\n" +
			"--quality error draws texts by First-Hitting on the canvas, of up to 16 free positions, and computes exactly how\n" +
			"probable each sampler makes them, from 2^N network rows per text for N positions: TV(P_FHS, P_N), KL(P_FHS‖P_N),\n" +
			"and the collision bound. certificate bounds both distances at any length. text and nelbo measure the sampled\n" +
			"sequences. audit compares cached rows with full ones, or without a cache the rows of a group with those of one\n" +
			"position per call, on texts of its own.",
		Flags: o.flags(),
		Check: o.check, Run: o.run,
	}
}

// benching is one run of bench.
type benching struct {
	*options
	ctx      context.Context
	streams  kit.Streams
	settings bench.RunSettings
	// deadline ends the work; the zero time means no limit.
	begin, deadline time.Time
	models          map[int]model.Model
	facts           facts.Facts
	// words is nil if there is no tokenizer.
	words *tokenize.Tokenizer
	cells []bench.Cell
	look  qualities
	log   bench.Log
	kept  *chunks.Checkpoint
	// failed holds the errors of cells that failed, faults a line for each failure.
	failed map[string]error
	faults []string
	// leftOut describes the settings that match none of --calls or cannot have a cache, fixed
	// those whose number of calls is fixed.
	leftOut, fixed []string
}

func (o *options) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	r := &benching{options: o, ctx: ctx, streams: s, begin: time.Now(), models: make(map[int]model.Model), failed: make(map[string]error), look: qualities{errors: new(bench.Errors), certificates: new(bench.Certificates)}}
	settings, err := r.grid(ctx)
	if err != nil {
		return err
	}
	r.readSettings()
	defer r.pages.Close()
	if err := r.pages.Open(ctx, s); err != nil {
		return err
	}
	if r.words, err = o.tokenizer.OpenAny(ctx, s, &o.model); err != nil {
		return err
	}
	defer func() {
		for _, m := range r.models {
			if cerr := m.Close(); err == nil {
				err = cerr
			}
		}
	}()
	if err := r.open(settings); err != nil {
		return err
	}
	defer r.look.close()
	if err := r.prepareQuality(); err != nil {
		return err
	}
	if err := r.resume(); err != nil {
		return err
	}
	defer r.kept.Close()
	return r.work()
}

// Schema names the layout of the file of bench's --resume: one chunk, whose pieces are the records.
const Schema = "mdmgen.bench-resume/1"

// resume opens the file of --resume, and restores its records.
func (r *benching) resume() (err error) {
	decides := struct {
		bench.RunSettings
		// Cells holds the cells' values by key, so that a message names the key.
		Cells map[string][]string `json:"cells"`
	}{r.settings, make(map[string][]string)}
	decides.MaxSeconds = 0 // A run may be given more time.
	for i, c := range bench.Summarise(r.cells, nil, r.settings, r.threads).Cells {
		decides.Cells["id"] = append(decides.Cells["id"], c.ID)
		for _, key := range c.Settings.Keys() {
			decides.Cells[key] = append(decides.Cells[key], fmt.Sprintf("%d %s", i, c.Settings.Get(key)))
		}
	}
	made := kit.NewProvenance(r.cells[0].Model, r.words)
	r.kept, err = r.chunks.Open(r.streams, chunks.Header{
		Identity: kit.NewIdentity(Schema, made, r.settings.Seed, decides), Chunks: 1, Part: chunks.Part{Provenance: made},
	}, "")
	if err == nil {
		err = r.kept.Pieces(0, r)
	}
	return err
}

// Restore adds and prints a kept record. What was measured of a cell without all its repetitions,
// for lack of time, is measured again.
func (r *benching) Restore(record json.RawMessage) error {
	n := len(r.log.Quality)
	if err := r.log.Restore(record); err != nil {
		return err
	}
	if len(r.log.Quality) > n && r.repeated(&bench.Cell{ID: r.log.Quality[n].Cell}) < r.settings.Repetitions {
		r.log.Quality = r.log.Quality[:n]
		return nil
	}
	return r.print(record)
}
