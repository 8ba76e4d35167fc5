// Package score is the command that computes how probable a text is.
package score

import (
	"context"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/windows"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// Command is the command score.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "score",
		Usage:     "how likely a text is: NELBO, K-plan bounds, exact −log P of a sampler",
		ArgsUsage: "[FILE]",
		Description: "FILE, or standard input, is a text, which is cut into windows (--as corpus), one text a line (lines), or\n" +
			"JSON lines {\"text\":…} or {\"ids\":[…]}, with what is given and not scored as {\"context\":TEXT or IDS} (jsonl; the\n" +
			"default for names that end so). Values are in nats; a perplexity is a bound wherever the nats are one.\n\n" +
			"Without more it estimates the NELBO, an upper bound on −log P of the first-hitting sampler; --estimator\n" +
			"and --protocol choose other forms. --estimator plans bounds −log P of any sampler with plans or paths, the more\n" +
			"closely the more --plans; --exact works it out, for windows with up to 16 free positions, or 14 where a fill\n" +
			"looks back (trapezoidal and paired-fhs) and whole rows of all 2^d canvases must fit in 1 GiB. The choices of\n" +
			"decoders that look at rows are made again on the text; where they follow from the canvas, windows may have\n" +
			"any length (`mdmgen samplers NAME` tells which).\n" +
			"A window's numbers depend on the model, the settings, the seed and its index; with --resume FILE an\n" +
			"interrupted run continues, to the same bits.\n\n" +
			"--write-profile keeps the NELBO's terms by number of visible tokens, which come free with --estimator k, orders and\n" +
			"--exact: the loss profile by which `mdmgen schedule` chooses sizes and grids. With as many --draws as a\n" +
			"window has tokens, every window has each number once, and schedules are told apart best. Beside it are the\n" +
			"interactions by which spread chooses groups: what revealing a token of 8 of the windows tells about the others.",
		Flags: o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error {
			if err := o.check(ctx, s, args); err != nil {
				return err
			}
			return score(ctx, s, o)
		}),
	}
}

// score opens the model and the input, and runs.
func score(ctx context.Context, s kit.Streams, o *options) (err error) {
	out, err := o.chunks.Results(ctx, o.output, s)
	if err != nil {
		return err
	}
	defer out.Discard()
	r := &scoring{options: o, ctx: ctx, streams: s, out: out}
	if r.network, err = o.model.Open(ctx, s, o.all); err != nil {
		return err
	}
	defer kit.Closing(r.network, &err)
	r.facts = r.network.Facts()
	if err := r.prepare(); err != nil {
		return err
	}
	return r.run()
}

// scoring is one run of score.
type scoring struct {
	*options
	ctx     context.Context
	streams kit.Streams
	out     *kit.Output
	network model.Model
	facts   model.Facts
	// words is nil if there is no tokenizer and none is needed.
	words               *tokenize.Tokenizer
	survey              *windows.Survey
	sequence            sequence
	overlaps, clustered bool
	evaluator           *likelihood.Evaluator
	config              likelihood.Config
	settings            settings
}
