// Package schedule is the command that predicts the loss of N calls, and finds settings within a
// target.
package schedule

import (
	"context"
	"math"
	"slices"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
)

// options holds the flags.
type options struct {
	profile, calls, matrix string
	klPerToken             float64
	cache                  bool
	seed                   *uint64
	length                 int // 0 if none is given
	confidence             float64
	format, output         string
	model                  setup.Model
	all                    flags.Set
}

func (o *options) flags() flags.Set {
	o.confidence = estimate.DefaultConfidence
	o.all = slices.Concat(flags.Set{
		flags.Name(&o.profile, "name a file", flags.Flag{Name: "profile", Category: flags.CatInput, Usage: "`FILE` with the network's interactions, from `mdmgen score --write-profile`"}),
		flags.Text(&o.calls, flags.Flag{Name: "calls", Category: flags.CatSample, Usage: "`LIST` of numbers of calls of the sampler spread, to predict what they lose"}),
		flags.Number(&o.klPerToken, "a finite number of nats above 0", func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }, flags.Flag{Name: "target-kl-per-token", Category: flags.CatSample, Default: "none", Usage: "find the fewest calls of spread that lose `X` nats a token at most"}),
		flags.Bool(&o.cache, flags.Flag{Name: "cache", Category: flags.CatSample, Usage: "with --target-kl-per-token: find the cheapest window of generate --cache instead, and keep it for --cache auto"}),
		flags.Seed(&o.seed, flags.Flag{Name: "seed", Category: flags.CatSample, Default: "1", Usage: "`SEED` of the texts that --cache measures on"}),
		flags.Name(&o.matrix, "give a template", flags.Flag{Name: "matrix", Category: flags.CatSample, Usage: "print how much each gap of `TEMPLATE` tells about each other, as of generate --infill"}),
		flags.Int(&o.length, 1, 1<<20, flags.Flag{Name: "length", Category: flags.CatInput, Default: "the model's", Usage: "`N` positions of the canvas, all masked"}),
		flags.Confidence(&o.confidence, flags.CatOutput, "probability `P` of the intervals of --cache"),
		kit.OutputFlag(&o.output),
	}, flags.Format(&o.format, "text", "json", "svg"), o.model.Flags())
	return o.all.Common("calls", "target-kl-per-token", "cache", "matrix", "profile", "length", "seed", "format", "output", "model")
}

// Command is the command schedule.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "schedule",
		Usage:     "what N network calls lose, and which positions to reveal together",
		ArgsUsage: " ",
		Description: "mdmgen schedule --calls 4,8,16,32\n" +
			"mdmgen schedule --target-kl-per-token 0.01\n" +
			"mdmgen schedule --matrix 'The {{2}} was in the {{2}}.'\n\n" +
			"With --calls or --target-kl-per-token: the groups of the sampler spread for a canvas of --length masks, what they are\n" +
			"predicted to lose, and the random groups of parallel-fhs beside. It needs the network's interactions: those of --profile, else what\n" +
			"an earlier run has kept in mdmgen's cache, else those of a short measurement on samples, which it keeps there. --format svg\n" +
			"draws them.\n\n" +
			"With --matrix: the same for the gaps of one text, each revealed and each told about, in both directions.\n\n" +
			"The prediction is no bound: `mdmgen bench --calls 4,8,16 --quality certificate` bounds distances from first-hitting's\n" +
			"distribution.",
		Flags:  o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error { return schedule(ctx, s, o, args) }),
	}
}

func schedule(ctx context.Context, s kit.Streams, o *options, args []string) error {
	if err := kit.NoArguments("schedule", args); err != nil {
		return err
	}
	if o.matrix != "" {
		if err := o.all.Unused("with --matrix", "seed", "confidence", "calls", "target-kl-per-token", "cache", "profile"); err != nil {
			return err
		}
		return o.gaps(ctx, s)
	}
	if !o.all.IsSet("calls") && !o.all.IsSet("target-kl-per-token") {
		return exit.Usagef("schedule: give a target with --target-kl-per-token, or, without --cache, numbers of calls with --calls, as in --calls 8,16")
	}
	if err := o.all.Exclude([2]string{"calls", "target-kl-per-token"}, [2]string{"cache", "calls"}, [2]string{"cache", "profile"}); err != nil {
		return err
	}
	if o.cache {
		return o.windows(ctx, s)
	}
	if err := o.all.Unused("without --cache", "seed", "confidence"); err != nil {
		return err
	}
	return o.groups(ctx, s)
}
