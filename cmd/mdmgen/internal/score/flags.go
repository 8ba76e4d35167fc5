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
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

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
