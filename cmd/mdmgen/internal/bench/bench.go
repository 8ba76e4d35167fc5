// Package bench is the command that measures what samplers cost and what more steps buy.
package bench

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/tokenize"
)

// Command is the command bench.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure what samplers cost, and what their steps buy",
		ArgsUsage: " ",
		Description: "mdmgen bench --sampler fhs,euler,tweedie --steps 8-128*2 --max-time 5m --html bench.html\n" +
			"mdmgen bench --length 8 --sampler tweedie --grid uniform,lambda --steps 4-64*2 --quality error\n" +
			"mdmgen bench --case fhs --case 'tweedie steps=8,16' --format benchstat > new.txt\n" +
			"mdmgen bench --calls 4,8,16 --sampler tweedie,spread,confidence -o table.tex\n\n" +
			"Runs the cross product of samplers and settings, each of which may be a list (8,16,32) or a range (8-1024*2,\n" +
			"4-16+4). A setting goes to those samplers that use it. With --calls each gets the steps that make so many in\n" +
			"expectation, within 10 %, and the results name what cannot. Cells are run in rounds, shuffled anew for each, and all\n" +
			"of a round sample with the same random streams. --max-time bounds\n" +
			"the whole run: every cell is measured once before any is twice, half of the time is for what --quality asks for,\n" +
			"and the results name what is missing. A cell that fails is reported, and the others are finished, with exit\n" +
			"status 1.\n\n" +
			"Times are of sampling alone, without opening and warming up. Calls are network calls per sequence; a number of\n" +
			"steps is no cost, for empty steps are free. tokens/s are sampled tokens per second of wall-clock time. CSV and\n" +
			"JSON have more columns than the table.\n\n" +
			"--quality error draws texts of first-hitting on a window of --error-length positions and computes exactly how\n" +
			"probable each sampler makes them: TV(P_FHS, P_N), KL(P_FHS‖P_N), and the bound by collisions, which holds at any\n" +
			"length. certificate bounds both at the full length by runs of first-hitting, for all samplers at once. text and\n" +
			"nelbo measure the sampled sequences themselves. audit compares the rows of texts of its own with those that they\n" +
			"stand for: with a cache with full rows, without one with rows of one position per call.",
		Flags: o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error {
			if err := kit.NoArguments("bench", args); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return run(ctx, s, o)
		}),
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
	// out is the destination of the results.
	out  *kit.Output
	look qualities
	log  bench.Log
	// failed holds the errors of cells that failed, faults a line for each failure.
	failed map[string]error
	faults []string
	// leftOut describes the settings that match none of --calls or cannot have a cache, references
	// those whose number of calls is fixed.
	leftOut, references []string
}

func run(ctx context.Context, s kit.Streams, o *options) (err error) {
	r := &benching{options: o, ctx: ctx, streams: s, begin: time.Now(), models: make(map[int]model.Model), failed: make(map[string]error)}
	settings, err := r.grid(ctx)
	if err != nil {
		return err
	}
	r.readSettings()
	defer r.closeOutputs()
	if err := r.openOutputs(); err != nil {
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
	return r.work()
}
