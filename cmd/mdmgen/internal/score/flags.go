// Package score is the command that computes how probable a text is.
package score

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
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

// options holds the flags.
type options struct {
	model     setup.Model
	sampler   setup.Sampler
	tokenizer setup.Tokenizer
	cut       texts.Cutting
	// path is the input, "" for standard input.
	path                string
	estimator, protocol likelihood.Form
	// draws and plans are 0 if none are given.
	draws, plans   int
	exact          bool
	confidence     float64
	format, output string
	chunks         chunks.Flags
	all            kit.Set
}

// formats are the values of --format.
var formats = []string{"text", "json", "jsonl"}

// most is the maximum number of draws and plans.
const most = 1 << 20

// flags returns the flags of the command.
func (o *options) flags() kit.Set {
	o.estimator, o.confidence = likelihood.Subsets, estimate.DefaultConfidence
	o.all = slices.Concat(o.cut.Flags(fmt.Sprintf("the model's; %d with --exact", texts.ExactLength), "all"), kit.Set{
		kit.Words(&o.estimator, likelihood.Forms(), kit.Flag{Name: "estimator", Category: kit.CatEstimate, Usage: "estimate by `FORM`: " + likelihood.Listed(likelihood.Forms())}),
		kit.Words(&o.protocol, likelihood.Protocols(), kit.Flag{Name: "protocol", Category: kit.CatEstimate, Usage: "estimate, and cut the text, as a public `PROJECT` does: " + likelihood.Listed(likelihood.Protocols())}),
		kit.Int(&o.draws, 1, most, kit.Flag{Name: "draws", Category: kit.CatEstimate, Default: "16, or the protocol's", Usage: "take `N` draws per window"}),
		kit.Int(&o.plans, 1, most, kit.Flag{Name: "plans", Category: kit.CatEstimate, Default: "1", Usage: "with --estimator plans, take `K` plans per draw, or paths if the decoder has no plans"}),
		kit.Bool(&o.exact, kit.Flag{Name: "exact", Category: kit.CatEstimate, Usage: "compute −log P of the sampler exactly, from 2^d rows for d free positions"}),
		kit.Confidence(&o.confidence, kit.CatEstimate, "compute intervals of probability `P`"),
	}, o.sampler.Flags(), o.sampler.DecoderFlags(), kit.Format(&o.format, formats...), kit.Set{kit.OutputFlag(&o.output)}, o.chunks.Flags("windows"), o.model.Flags(), kit.Set{o.tokenizer.Flag(), o.sampler.Profile.Flag()})
	return o.all.Common("as", "length", "limit", "context", "estimator", "protocol", "draws", "exact", "sampler", "steps", "seed", "format", "output", "resume", "model", "tokenizer")
}

// form returns the estimated quantity: the protocol's, if there is one.
func (o *options) form() likelihood.Form {
	if o.protocol != "" {
		return o.protocol
	}
	return o.estimator
}

// check returns the errors that can be found before anything is opened.
func (o *options) check(ctx context.Context, s kit.Streams, args []string) error {
	o.path = strings.Join(args, "") // one or none
	err := o.all.Exclude([][2]string{{"estimator", "protocol"}, {"exact", "estimator"}, {"exact", "protocol"}, {"exact", "draws"}, {"exact", "plans"}}...)
	if err != nil {
		return err
	}
	if d, _ := catalog.Describe(o.sampler.Name); d.Kind == samplers.ByOrder && o.form() == likelihood.Subsets && !o.all.Given("estimator") {
		o.exact = true // at any length
	}
	planned := o.form() == likelihood.Plans
	if o.all.Given("plans") && !planned {
		return exit.Usagef("--plans: needs --estimator plans")
	}
	if err := o.checkSampler(ctx, planned || o.exact); err != nil {
		return err
	}
	return o.chunks.Check(s, o.all, chunks.Use{Output: o.output, Seeded: o.exact || o.sampler.Seed != nil})
}

// checkSampler returns an error for flags of the sampler that have no use.
func (o *options) checkSampler(ctx context.Context, used bool) error {
	token := func(name string) bool {
		return slices.ContainsFunc(catalog.AllOptions(), func(o samplers.Option) bool { return o.Name == name && o.Token })
	}
	for _, f := range o.all {
		switch name := f.Name; {
		case f.Category != kit.CatSample || name == "profile" || !o.all.Given(name):
		case name == "seed" && o.all.Given("exact"):
			return exit.Usagef("--seed: nothing is drawn with --exact")
		case name == "guidance" && o.protocol == likelihood.LLaDA:
		case !used && name != "seed" && name != "batch" && !token(name):
			return exit.Usagef("--%s: chooses a sampler; it needs --exact or --estimator plans", name)
		}
	}
	return o.sampler.Check(ctx, "score", o.all)
}
