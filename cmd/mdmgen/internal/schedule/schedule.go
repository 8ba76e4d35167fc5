// Package schedule is the command that predicts the loss of N calls, and finds settings within a
// target.
package schedule

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/requests"
)

// options holds the flags.
type options struct {
	profile, calls string
	klPerToken     float64
	cache          bool
	seed           *uint64
	length         int // 0 if none is given
	format, output string
	model          setup.Model
	all            kit.Set
}

func (o *options) flags() kit.Set {
	o.all = slices.Concat(kit.Set{
		kit.Name(&o.profile, "name a file", kit.Flag{Name: "profile", Category: kit.CatInput, Usage: "read the network's interactions from `FILE`, written by an earlier mdmgen schedule"}),
		kit.Text(&o.calls, kit.Flag{Name: "calls", Category: kit.CatSample, Usage: "predict the loss of the sampler spread at a `LIST` of calls"}),
		kit.Number(&o.klPerToken, "a finite number of nats above 0", func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }, kit.Flag{Name: "target-kl-per-token", Category: kit.CatSample, Default: "none", Usage: "find the fewest calls of spread that lose at most `X` nats per token"}),
		kit.Bool(&o.cache, kit.Flag{Name: "cache", Category: kit.CatSample, Usage: "with --target-kl-per-token: find the cheapest window for generate --cache instead, and keep it for --cache auto"}),
		kit.Seed(&o.seed, kit.Flag{Name: "seed", Category: kit.CatSample, Default: "1", Usage: "draw the texts that --cache measures on by `SEED`"}),
		kit.Int(&o.length, 1, 1<<20, kit.Flag{Name: "length", Category: kit.CatInput, Default: "the model's", Usage: "use a canvas of `N` positions, all masked"}),
		kit.OutputFlag(&o.output),
	}, kit.Format(&o.format, "text", "json", "svg"), o.model.Flags())
	return o.all.Common("calls", "target-kl-per-token", "cache", "profile", "length", "seed", "format", "output", "model")
}

// Command is the command schedule.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "schedule",
		Usage:     "predict what N network calls lose, and which positions to group",
		Arguments: "[MODEL]",
		Description: "mdmgen schedule --calls 4,8,16,32\n" +
			"mdmgen schedule --target-kl-per-token 0.01\n\n" +
			"Prints the groups of the sampler spread on a canvas of --length masks, with their predicted loss, and the random\n" +
			"groups of parallel-fhs for comparison. This needs the network's interactions: from --profile, else from mdmgen's\n" +
			"cache, else from a short measurement on samples, which is then kept. --format svg draws the groups.\n\n" +
			"The prediction is not a bound: `mdmgen bench --calls 4,8,16 --quality certificate` bounds distances from\n" +
			"First-Hitting's distribution.",
		Flags: o.flags(),
		Run:   o.run,
	}
}

func (o *options) run(ctx context.Context, s kit.Streams, _ []string) error {
	if !o.all.Given("calls") && !o.all.Given("target-kl-per-token") {
		return exit.Usagef("schedule: give a target with --target-kl-per-token, or, without --cache, numbers of calls with --calls, as in --calls 8,16")
	}
	if err := o.all.Exclude([2]string{"calls", "target-kl-per-token"}, [2]string{"cache", "calls"}, [2]string{"cache", "profile"}); err != nil {
		return err
	}
	if o.cache {
		return o.windows(ctx, s)
	}
	if err := o.all.Unused("without --cache", "seed"); err != nil {
		return err
	}
	return o.groups(ctx, s)
}

// blank returns the canvas of --length masks.
func (o *options) blank(f model.Facts) ([]int, error) {
	length := cmp.Or(o.length, f.Length-len(f.Frame))
	if f.Shift {
		return nil, exit.Usagef("schedule: the network predicts position l from row l−1, and has no row for the first: `mdmgen bound TEXT --context 1` has certificates after a first token")
	}
	c, err := requests.Layout{Facts: f}.Canvas(requests.Request{IDs: make([]*int, length)})
	if err != nil {
		return nil, exit.Usagef("--%s", err)
	}
	return c.Tokens, nil
}

// onCanvas opens the model and calls find with it and the canvas of --length masks.
func (o *options) onCanvas(ctx context.Context, s kit.Streams, find func(m model.Model, canvas []int) error) (err error) {
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	canvas, err := o.blank(m.Facts())
	if err != nil {
		return err
	}
	return find(m, canvas)
}

// generating returns the command that samples by a setting, with the flags that override the
// model's facts.
func (o *options) generating(length int, setting string) string {
	out := fmt.Sprintf("mdmgen generate --model %s --length %d %s", kit.Quoted(o.model.Ref), length, setting)
	for _, fact := range o.model.Facts {
		out += " --set " + kit.Quoted("fact="+fact)
	}
	if o.model.Sidecar != "" {
		out += " --set " + kit.Quoted("sidecar="+o.model.Sidecar)
	}
	return out
}
