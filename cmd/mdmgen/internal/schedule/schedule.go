// Package schedule is the command that chooses schedules by a network's loss profile.
package schedule

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/profile"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// schema names the layout of schedule's record.
const schema = "mdmgen.schedule/1"

// meaning explains an excess; the command prints it with its numbers.
const meaning = "The excess of a schedule is its expected path loss E_plan[Σ −log μ] less the NELBO, in nats a sequence. " +
	"For a network without time, E_plan KL(q0‖P(·|plan)) = ε″ + excess exactly, with ε″ = E[NELBO] − H(q0), and so KL(q0‖P) ≤ ε″ + excess: " +
	"a bound, not a value, for a mixture over plans is nearer to q0 than its plans are. " +
	"It does not bound KL(P_FHS‖P), the distance from first-hitting's own law. " +
	"q0 is the law of the text that the profile was measured on. A time-conditioned network has the same identity."

// options are the flags.
type options struct {
	profile, steps, calls string
	matrix                string
	klPerToken            float64
	cache                 bool
	target                targetOptions
	confidence            float64
	format, output        string
	all                   flags.Set
}

func (o *options) flags() flags.Set {
	o.confidence = estimate.DefaultConfidence
	o.all = append(flags.Set{
		flags.Name(&o.profile, "name a file", flags.Flag{Name: "profile", Category: flags.CatInput, Usage: "`FILE` with the loss profile, from `mdmgen score --write-profile`"}),
		flags.Text(&o.calls, flags.Flag{Name: "calls", Category: flags.CatSample, Usage: "`LIST` of numbers of calls of the sampler spread, to predict what they lose"}),
		flags.Number(&o.klPerToken, "a finite number of nats above 0", func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }, flags.Flag{Name: "target-kl-per-token", Category: flags.CatSample, Default: "none", Usage: "find the fewest calls of spread that lose `X` nats a token at most"}),
		flags.Bool(&o.cache, flags.Flag{Name: "cache", Category: flags.CatSample, Usage: "with --target-kl-per-token: find the cheapest window of generate --cache instead, and keep it for --cache auto"}),
		flags.Name(&o.matrix, "give a template", flags.Flag{Name: "matrix", Category: flags.CatSample, Usage: "print how much each gap of `TEMPLATE` tells about each other, as of generate --infill"}),
		flags.Text(&o.steps, flags.Flag{Name: "steps", Category: flags.CatSample, Usage: "`LIST` of numbers of calls"}),
		flags.Confidence(&o.confidence, flags.CatOutput, "probability `P` of the intervals"),
	}, append(append(flags.Format(&o.format, "text", "json", "svg"), kit.OutputFlag(&o.output)), o.target.flags()...)...)
	return o.all.Common("calls", "target-kl-per-token", "cache", "matrix", "profile", "steps", "target-tv", "target-kl", "length", "seed", "format", "output", "model")
}

// Command is the command schedule.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "schedule",
		Usage:     "what N network calls lose, and which positions to reveal together",
		ArgsUsage: " ",
		Description: "mdmgen schedule --calls 4,8,16,32\n" +
			"mdmgen score TEXT --length 128 --draws 128 --write-profile loss.json\n" +
			"mdmgen schedule --profile loss.json --steps 8,16,32\n" +
			"mdmgen generate --sampler parallel-fhs --steps 16 --sizes profile --profile loss.json\n" +
			"mdmgen schedule --target-tv 0.1\n" +
			"mdmgen schedule --matrix 'The {{2}} was in the {{2}}.'\n\n" +
			"With --calls or --target-kl-per-token: the groups of the sampler spread for a canvas of --length masks, what they are\n" +
			"predicted to lose, and the random groups of parallel-fhs beside. It needs the network's interactions: those of --profile, else what\n" +
			"an earlier run has kept in mdmgen's cache, else those of a short measurement on samples, which it keeps there. --format svg\n" +
			"draws them.\n\n" +
			"With --matrix: the same for the gaps of one text, each revealed and each told about, in both directions.\n\n" +
			"With --steps: reads how much the network loses at a masked token by the number of visible ones, made\n" +
			"non-increasing, and finds by dynamic programming the sizes of parallel-fhs whose expected path loss is least. Those that\n" +
			"are chosen on one half of the windows are judged on the other beside equal sizes. The sizes to use are chosen on all\n" +
			"windows, as --sizes profile does with that file; where they are not shown to be better, equal ones are named.\n\n" +
			kit.Wrap(meaning, 104, "") + "\n" +
			"With --target-tv or --target-kl: finds the cheapest setting within a distance from first-hitting's distribution, sizes\n" +
			"and grids, by certificates from runs of first-hitting on the network; with --profile those chosen by it, too.",
		Flags:  o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error { return schedule(ctx, s, o, args) }),
	}
}

// Record is what schedule prints as JSON.
type Record struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Meaning    string         `json:"meaning"`
	Confidence float64        `json:"confidence"`
	Profile    Loss           `json:"profile"`
	Choices    []Choice       `json:"choices"`
}

// Loss describes the profile that schedules were chosen by.
type Loss struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	// Model and Facts are the digests of the network that was measured, and of its facts.
	Model     string `json:"model,omitempty"`
	Facts     string `json:"facts,omitempty"`
	Positions int    `json:"positions"`
	// Chosen and Judged are numbers of windows, LeftOut that of windows with fewer positions.
	Chosen  int               `json:"windows_chosen_on"`
	Judged  int               `json:"windows_judged_on"`
	LeftOut int               `json:"left_out,omitempty"`
	NELBO   estimate.Estimate `json:"nelbo"`
	// Interpolated counts the numbers of visible tokens that fewer than two windows of a half
	// have a draw of.
	Interpolated int `json:"interpolated"`
	// Smoothed reports whether the loss of all windows was smoothed, because windows are
	// predicted better then.
	Smoothed bool `json:"smoothed"`
	// Loss is the profile of all windows, made non-increasing: the one schedules are chosen by.
	Loss []float64 `json:"loss"`
}

// Choice is the result for one number of calls. Excesses are in nats a sequence.
type Choice struct {
	N int `json:"n"`
	// Schedules are the chosen one and that of equal sizes, on the half of the windows that neither
	// was chosen on. Gain is the excess of the one less that of the other.
	Schedules []Judged          `json:"schedules"`
	Gain      estimate.Estimate `json:"chosen_less_equal"`
	// Use is the schedule chosen on all windows, Chosen the flags for it. Better reports whether
	// the chosen one is shown to be better than equal sizes; Flags are Chosen then, and
	// those of equal ones else.
	Use       List    `json:"use"`
	Chosen    string  `json:"chosen_flags"`
	Better    bool    `json:"better_than_equal"`
	Flags     string  `json:"flags"`
	Predicted float64 `json:"predicted_by_own_profile"`
}

// List holds sizes.
type List struct {
	Sizes []int `json:"sizes,omitempty"`
}

// Judged is one schedule on the windows that it was not chosen by.
type Judged struct {
	Name string `json:"name"`
	List
	Calls  int               `json:"calls"`
	Excess estimate.Estimate `json:"excess"`
}

// numbers reads --steps.
func (o *options) numbers() ([]int, error) {
	if o.steps == "" {
		return nil, exit.Usagef("schedule: give the numbers of calls with --calls, as in --calls 8,16, or --steps, or a target with --target-tv or --target-kl")
	}
	out, err := bench.Ints(o.steps, 1, profile.MaxPositions)
	if err != nil {
		return nil, exit.Usagef("--steps: %s", fault.Plain(err))
	}
	return out, nil
}

func schedule(ctx context.Context, s kit.Streams, o *options, args []string) error {
	if err := kit.NoArguments("schedule", args); err != nil {
		return err
	}
	if o.matrix != "" {
		if err := o.all.Unused("with --matrix", append(o.target.search.Names(), "steps", "confidence", "calls", "target-kl-per-token", "cache", "profile")...); err != nil {
			return err
		}
		return o.gaps(ctx, s)
	}
	if o.grouped() {
		if err := o.checkGroups(); err != nil {
			return err
		}
		if o.cache {
			return o.windows(ctx, s)
		}
		return o.groups(ctx, s)
	}
	if o.format == "svg" {
		return exit.Usagef("--format svg: draws interactions: add --calls LIST")
	}
	toTarget, err := o.targeted()
	if err != nil {
		return err
	}
	if toTarget {
		return findTarget(ctx, s, o)
	}
	steps, err := o.numbers()
	if err != nil {
		return err
	}
	if o.profile == "" {
		return exit.Usagef("schedule: give the network's loss profile with --profile FILE, as `mdmgen score TEXT --write-profile FILE` writes it")
	}
	if err := kit.Apart("schedule", nil, o.all, kit.NamedFile{Flag: "-o", Path: o.output}); err != nil {
		return err
	}
	p, err := setup.OpenProfile(ctx, o.profile)
	if err != nil {
		return err
	}
	if _, err := p.Losses(o.profile); err != nil {
		return err
	}
	out, err := kit.NewResults(ctx, o.output, s.Out)
	if err != nil {
		return err
	}
	defer out.Discard()
	r := Record{Schema: schema, Provenance: kit.NewProvenance(nil, nil), Meaning: meaning, Confidence: o.confidence, Profile: used(o.profile, p, o.confidence)}
	for _, n := range steps {
		chosen, err := p.Choose(n, o.confidence)
		if err != nil {
			return exit.Usagef("--steps: %s", fault.Plain(err))
		}
		r.Choices = append(r.Choices, newChoice(chosen))
	}
	if o.format == "text" {
		print(out, r)
	} else if err := kit.WriteRecord(out, o.format, r); err != nil {
		return err
	}
	return out.Commit()
}

// used describes the profile of a file.
func used(file string, p *setup.ReadProfile, confidence float64) Loss {
	train, judge := p.Half(0), p.Half(1)
	return Loss{
		File: file, Digest: p.Digest, Model: p.Model().Digest, Facts: p.Model().FactsDigest, Positions: p.D, Chosen: train.Windows(), Judged: judge.Windows(),
		LeftOut: p.LeftOut, Smoothed: p.All().Smoothed(), NELBO: p.All().NELBO(confidence), Interpolated: max(train.Missing(), judge.Missing()), Loss: p.Falling(),
	}
}

// rounding is where a number of nats is 0 but for rounding.
const rounding = 1e-9

func newChoice(in profile.Choice) Choice {
	var items []string
	for _, n := range in.Use {
		items = append(items, strconv.Itoa(n))
	}
	out := Choice{
		N: in.N, Schedules: []Judged{{"chosen", List{in.Chosen.Sizes}, in.N, in.Chosen.Excess}, {"equal", List{in.Equal.Sizes}, in.N, in.Equal.Excess}}, Gain: in.Gain, Use: List{in.Use},
		Chosen: "--sampler parallel-fhs --sizes " + strings.Join(items, ","),
		Better: in.Gain.Hi < -rounding && !math.IsInf(in.Gain.SE, 1), Predicted: in.Predicted, Flags: fmt.Sprintf("--sampler parallel-fhs --steps %d", in.N),
	}
	if out.Better {
		out.Flags = out.Chosen
	}
	return out
}
