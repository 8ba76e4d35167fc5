// Package schedule is the command that chooses schedules by a network's loss profile.
package schedule

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

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

// meaning says what an excess is; the command prints it with its numbers.
const meaning = "The excess of a schedule is what its expected path loss E_plan[Σ −log μ] has above the NELBO, in nats a sequence. " +
	"For a network without time, E_plan KL(q0‖P(·|plan)) = ε″ + excess exactly, with ε″ = E[NELBO] − H(q0), and so KL(q0‖P) ≤ ε″ + excess: " +
	"a bound, not a value, for a mixture over plans is nearer to q0 than its plans are. " +
	"It does not bound KL(P_FHS‖P), the distance from first-hitting's own law. " +
	"q0 is the law of the text that the profile was measured on. A network that is asked with the time has the same identity for sizes; for a grid it is an approximation."

// options are the flags.
type options struct {
	profile, steps string
	target         targetOptions
	kind           profile.Kind
	confidence     float64
	format, output string
	all            flags.Set
}

func (o *options) flags() flags.Set {
	o.kind, o.confidence = profile.Kinds()[0], estimate.DefaultConfidence
	var kinds []string
	for _, k := range profile.Kinds() {
		kinds = append(kinds, string(k))
	}
	o.all = append(flags.Set{
		flags.Name(&o.profile, "name a file", flags.Flag{Name: "profile", Category: flags.CatInput, Usage: "`FILE` with the loss profile, from `mdmgen score --write-profile`"}),
		flags.Text(&o.steps, flags.Flag{Name: "steps", Category: flags.CatSample, Usage: "`LIST` of numbers of calls, or of a grid's steps"}),
		flags.Words(&o.kind, profile.Kinds(), flags.Flag{Name: "kind", Category: flags.CatSample, Usage: "`KIND` of schedule: " + strings.Join(kinds, ", ")}),
		flags.Confidence(&o.confidence, flags.CatOutput, "probability `P` of the intervals"),
	}, append(append(flags.Format(&o.format, "text", "json"), kit.OutputFlag(&o.output)), o.target.flags()...)...)
	return o.all.Common("profile", "steps", "kind", "target-tv", "target-kl", "length", "seed", "format", "output", "model")
}

// Command is the command schedule.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "schedule",
		Usage:     "choose the block sizes or the grid that lose least with N network calls",
		ArgsUsage: " ",
		Description: "mdmgen score TEXT --length 128 --draws 128 --write-profile loss.json\n" +
			"mdmgen schedule --profile loss.json --steps 8,16,32\n" +
			"mdmgen generate --sampler parallel-fhs --steps 16 --sizes profile --profile loss.json\n" +
			"mdmgen schedule --target-tv 0.1\n\n" +
			"Reads how much the network loses at a masked token by the number of visible ones, made to fall with it,\n" +
			"and finds by dynamic programming the sizes of parallel-fhs, or the grid of tweedie (--kind grid), whose expected\n" +
			"path loss is least. Sizes are chosen on one half of the windows; their excess, that of equal, cos2 and cosine\n" +
			"sizes, and the paired differences are measured on the other half. The schedule to use is then chosen on all windows: it is\n" +
			"what --sizes profile and --grid profile have with that file. Where it is not shown to be better than equal\n" +
			"sizes, or a grid of equal masked fractions, those are named as being as good. \"unforced\" is what the profile as it was measured\n" +
			"would choose with at most N calls, where that takes fewer; the √-rule is what many calls of many positions approach.\n\n" +
			kit.Wrap(meaning, 104, "") + "\n" +
			"With --target-tv or --target-kl it looks for the cheapest setting within a distance from first-hitting's distribution, sizes\n" +
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
	Kind       string         `json:"kind"`
	Confidence float64        `json:"confidence"`
	Profile    usedLoss       `json:"profile"`
	Choices    []choice       `json:"choices"`
}

// usedLoss describes the profile that schedules were chosen by.
type usedLoss struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	// Model and Facts are the digests of the network that was measured, and of its facts.
	Model     string            `json:"model,omitempty"`
	Facts     string            `json:"facts,omitempty"`
	Positions int               `json:"positions"`
	Chosen    int               `json:"windows_chosen_on"`
	Judged    int               `json:"windows_judged_on"`
	LeftOut   int               `json:"left_out,omitempty"`
	NELBO     estimate.Estimate `json:"nelbo"`
	// Interpolated counts the numbers of visible tokens that fewer than two windows of a half
	// have a draw of.
	Interpolated int `json:"interpolated"`
	// Rises counts those at which the loss of all windows is above that with one fewer, by
	// RiseMost at most; Moved is the root mean square by which making it fall moves it.
	Rises    int     `json:"rises"`
	RiseMost float64 `json:"rise_most"`
	Moved    float64 `json:"moved"`
	// Smoothed says that the loss of all windows was smoothed, because windows are predicted
	// better then.
	Smoothed bool `json:"smoothed"`
	// Loss is the profile of all windows, made to fall: the one schedules are chosen by.
	Loss []float64 `json:"loss"`
}

// choice is the result for one number of calls. Excesses are in nats a sequence.
type choice struct {
	N         int              `json:"n"`
	Schedules []judgedSchedule `json:"schedules"`
	Root      float64          `json:"root_rule"`
	// Use is the schedule chosen on all windows, Chosen the flags that say so. Better says that
	// the other half of the windows shows the chosen one to be better than equal sizes or steps;
	// Flags are the chosen one's then, and those of equal ones else.
	Use       judgedList `json:"use"`
	Chosen    string     `json:"chosen_flags"`
	Better    bool       `json:"better_than_equal"`
	Flags     string     `json:"flags"`
	Predicted float64    `json:"predicted_by_own_profile"`
}

// judgedList holds sizes or masked fractions.
type judgedList struct {
	Sizes  []int     `json:"sizes,omitempty"`
	Lambda []float64 `json:"masked_fractions,omitempty"`
}

// judgedSchedule is one schedule on the windows that it was not chosen by.
type judgedSchedule struct {
	Name string `json:"name"`
	judgedList
	Calls  float64           `json:"calls"`
	Excess estimate.Estimate `json:"excess"`
	// Gain is the chosen one's excess less this one's.
	Gain *estimate.Estimate `json:"chosen_less_this,omitempty"`
}

// numbers reads --steps.
func (o *options) numbers() ([]int, error) {
	if o.steps == "" {
		return nil, exit.Usagef("schedule: give the numbers of calls with --steps, as in --steps 8,16")
	}
	var out []int
	for _, item := range strings.Split(o.steps, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 || n > profile.MaxPositions {
			return nil, exit.Usagef("--steps: %.40q is not a whole number in 1..%d", item, profile.MaxPositions)
		}
		if slices.Contains(out, n) {
			return nil, exit.Usagef("--steps: %d appears twice", n)
		}
		out = append(out, n)
	}
	return out, nil
}

func schedule(ctx context.Context, s kit.Streams, o *options, args []string) error {
	if err := kit.NoArguments("schedule", args); err != nil {
		return err
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
	out, err := kit.NewResults(ctx, o.output, s.Out)
	if err != nil {
		return err
	}
	defer out.Discard()
	r := Record{Schema: schema, Provenance: kit.NewProvenance(nil, nil), Meaning: meaning, Kind: string(o.kind), Confidence: o.confidence, Profile: used(o.profile, p, o.confidence)}
	for _, n := range steps {
		chosen, err := p.Choose(o.kind, n, o.confidence)
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
func used(file string, p *setup.ReadProfile, confidence float64) usedLoss {
	train, judge := p.Half(0), p.Half(1)
	out := usedLoss{
		File: file, Digest: p.Digest, Model: p.Model().Digest, Facts: p.Model().FactsDigest, Positions: p.D, Chosen: train.Windows(), Judged: judge.Windows(),
		LeftOut: p.LeftOut, Smoothed: p.All().Smoothed(), NELBO: p.All().NELBO(confidence), Interpolated: max(train.Missing(), judge.Missing()), Loss: p.Falling(),
	}
	out.Rises, out.RiseMost, out.Moved = p.All().Rises()
	return out
}

// rounding is where a number of nats is 0 but for rounding.
const rounding = 1e-9

func newChoice(in profile.Choice) choice {
	list := func(s profile.Schedule) judgedList { return judgedList{s.Sizes, s.Lambda} }
	out := choice{N: in.N, Root: in.Root, Use: list(in.Use), Chosen: asFlags(in.Use), Predicted: in.Predicted}
	out.Flags = fmt.Sprintf("--sampler parallel-fhs --steps %d", in.N)
	if in.Use.Sizes == nil {
		out.Flags = fmt.Sprintf("--sampler tweedie --grid lambda --steps %d", in.N)
	}
	for _, j := range in.Schedules {
		if j.Name == "equal" && j.Gain.Hi < -rounding && !math.IsInf(j.Gain.SE, 1) {
			out.Better, out.Flags = true, out.Chosen
		}
		out.Schedules = append(out.Schedules, judgedSchedule{j.Name, list(j.Schedule), j.Calls, j.Excess, j.Gain})
	}
	return out
}

// asFlags are the flags that have a schedule used.
func asFlags(s profile.Schedule) string {
	if s.Sizes != nil {
		var items []string
		for _, n := range s.Sizes {
			items = append(items, strconv.Itoa(n))
		}
		return "--sampler parallel-fhs --sizes " + strings.Join(items, ",")
	}
	var items []string
	for _, v := range s.Lambda {
		items = append(items, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return fmt.Sprintf("--sampler tweedie --grid lambda:%s", strings.Join(items, ","))
}
