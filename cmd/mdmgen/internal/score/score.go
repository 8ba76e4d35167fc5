// Package score is the command that computes how probable a text is.
package score

import (
	"context"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// Command is the command score.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "score",
		Usage:     "score a text: NELBO, K-plan bounds, exact −log P of a sampler",
		Arguments: "[FILE or TEXT]",
		Description: "FILE, or standard input, is a text that is cut into windows (--as corpus), one text per line (lines), or JSON\n" +
			"lines {\"text\":…} or {\"ids\":[…]}, optionally with {\"context\":TEXT or IDS} that is not scored (jsonl,\n" +
			"the default for names that end so). TEXT, with a blank, is scored itself. Values are in nats; a perplexity is a bound if its nats are.\n\n" +
			"By default it estimates the NELBO, an upper bound on −log P of First-Hitting; --estimator and\n" +
			"--protocol choose other forms. --estimator plans bounds −log P of any sampler that has plans or paths, more\n" +
			"tightly with more --plans. --exact computes it, for windows of up to 16 free positions, or any length if a\n" +
			"decoder's choices follow from the canvas alone (`mdmgen samplers NAME`). A window's numbers depend on the model,\n" +
			"the settings, the seed and its index.",
		Flags: o.flags(),
		Check: o.check, Run: o.run,
	}
}

// run opens the model and the input, and runs.
func (o *options) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	r := &scoring{options: o, ctx: ctx, streams: s}
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
	network model.Model
	facts   model.Facts
	// words is nil if there is no tokenizer and none is needed.
	words               *tokenize.Tokenizer
	survey              *texts.Survey
	sequence            sequence
	overlaps, clustered bool
	evaluator           *likelihood.Evaluator
	config              likelihood.Config
	settings            settings
}
