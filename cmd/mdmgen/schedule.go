package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/profile"
)

// scheduleSchema names the layout of schedule's record.
const scheduleSchema = "mdmgen.schedule/1"

// scheduleMeaning says what an excess is; the command prints it with its numbers.
const scheduleMeaning = "The excess of a schedule is what its expected path loss E_plan[Σ −log μ] has above the NELBO, in nats a sequence. " +
	"For a network without time, E_plan KL(q0‖P(·|plan)) = ε″ + excess exactly, with ε″ = E[NELBO] − H(q0), and so KL(q0‖P) ≤ ε″ + excess: " +
	"a bound, not a value, for a mixture over plans is nearer to q0 than its plans are. " +
	"It does not bound KL(P_FHS‖P), the distance from first-hitting's own law. " +
	"q0 is the law of the text that the profile was measured on. A network that is asked with the time has the same identity for sizes; for a grid it is an approximation."

func scheduleCommand(s streams) *cli.Command {
	var kinds []string
	for _, k := range profile.Kinds() {
		kinds = append(kinds, string(k))
	}
	return &cli.Command{
		Name:      "schedule",
		Usage:     "choose the block sizes or the grid that cost least for N network calls",
		ArgsUsage: " ",
		Description: "mdmgen score TEXT --length 128 --draws 128 --profile loss.json\n" +
			"mdmgen schedule --profile loss.json --steps 8,16,32\n" +
			"mdmgen generate --sampler parallel-fhs --steps 16 --sizes profile --profile loss.json\n" +
			"mdmgen schedule --target-tv 0.1\n\n" +
			"Reads how much the network loses at a masked token by the number of visible ones, made to fall with it,\n" +
			"and finds by dynamic programming the sizes of parallel-fhs, or the grid of tweedie (--kind grid), whose expected\n" +
			"path loss is least. Sizes are chosen on one half of the windows; their excess, that of equal, cos2 and cosine\n" +
			"and the differences, in pairs, are of the other half. The schedule to use is then chosen on all windows: it is\n" +
			"what --sizes profile and --grid profile have with that file. \"unforced\" is what the profile as it was measured\n" +
			"would have with at most N calls, where it takes fewer; the √-rule is what many calls of many positions approach.\n\n" +
			wrap(scheduleMeaning, 104, "") + "\n" +
			"With --target-tv or --target-kl it looks for the cheapest setting within a distance from first-hitting's law, sizes\n" +
			"and grids, by certificates from runs of first-hitting on the network; with --profile those chosen by it, too.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "profile", Category: catInput, Usage: "`FILE` with the loss profile, from `mdmgen score --profile`"},
			&cli.StringFlag{Name: "steps", Category: catSample, Usage: "`LIST` of numbers of calls, or of a grid's steps"},
			&cli.StringFlag{Name: "kind", Value: kinds[0], Category: catSample, Usage: "`KIND` of schedule: " + strings.Join(kinds, ", ")},
			&cli.Float64Flag{Name: "confidence", Value: estimate.DefaultConfidence, Category: catOutput, Usage: "probability `P` of the intervals"},
			&cli.BoolFlag{Name: "json", Category: catOutput, Usage: "print JSON"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: catOutput, Usage: "`FILE` to write (default: standard output); it appears whole or not at all"},
		}, targetFlags()...),
		Action: func(c *cli.Context) error { return schedule(c, s) },
	}
}

// scheduleRecord is what schedule prints as JSON.
type scheduleRecord struct {
	Schema     string     `json:"schema"`
	Provenance provenance `json:"provenance"`
	Meaning    string     `json:"meaning"`
	Kind       string     `json:"kind"`
	Confidence float64    `json:"confidence"`
	Profile    usedLoss   `json:"profile"`
	Choices    []choice   `json:"choices"`
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
	// Use is the schedule to use, chosen on all windows, with the flags that say so.
	Use       judgedList `json:"use"`
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

// scheduleSteps reads --steps.
func scheduleSteps(c *cli.Context) ([]int, error) {
	if c.String("steps") == "" {
		return nil, usagef("schedule: give the numbers of calls with --steps, as in --steps 8,16")
	}
	var out []int
	for _, item := range strings.Split(c.String("steps"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 || n > profile.MaxPositions {
			return nil, usagef("--steps: %.40q is not a whole number in 1..%d", item, profile.MaxPositions)
		}
		if slices.Contains(out, n) {
			return nil, usagef("--steps: %d stands there twice", n)
		}
		out = append(out, n)
	}
	return out, nil
}

func schedule(c *cli.Context, s streams) error {
	if err := noArguments(c); err != nil {
		return err
	}
	toTarget, err := targeted(c)
	if err != nil {
		return err
	}
	kind := profile.Kind(c.String("kind"))
	if !slices.Contains(profile.Kinds(), kind) {
		return usagef("--kind %.40q: must be one of %s", kind, strings.ReplaceAll(strings.Trim(fmt.Sprint(profile.Kinds()), "[]"), " ", ", "))
	}
	confidence := c.Float64("confidence")
	if !(confidence > 0 && confidence < 1) {
		return usagef("--confidence %v: must be between 0 and 1", confidence)
	}
	if toTarget {
		return scheduleTarget(c, s, kind)
	}
	steps, err := scheduleSteps(c)
	if err != nil {
		return err
	}
	if !c.IsSet("profile") {
		return usagef("schedule: give the network's loss profile with --profile FILE, as `mdmgen score TEXT --profile FILE` writes it")
	}
	p, err := openProfile(c.Context, c.String("profile"))
	if err != nil {
		return err
	}
	out, err := newResults(c, s.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	record := scheduleRecord{Schema: scheduleSchema, Provenance: newProvenance(nil, nil), Meaning: scheduleMeaning, Kind: string(kind), Confidence: confidence, Profile: usedProfile(c, p, confidence)}
	for _, n := range steps {
		chosen, err := p.Choose(kind, n, confidence)
		if err != nil {
			return usagef("--steps: %s", bareProfile(err))
		}
		record.Choices = append(record.Choices, newChoice(chosen))
	}
	if c.Bool("json") {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(record); err != nil {
			return err
		}
	} else {
		printSchedule(out, record)
	}
	return out.Commit()
}

// usedProfile describes a profile.
func usedProfile(c *cli.Context, p *readProfile, confidence float64) usedLoss {
	train, judge := p.Half(0), p.Half(1)
	out := usedLoss{
		File: c.String("profile"), Digest: p.digest, Model: p.model().Digest, Facts: p.model().FactsDigest, Positions: p.D, Chosen: train.Windows(), Judged: judge.Windows(),
		LeftOut: p.LeftOut, Smoothed: p.All().Smoothed(), NELBO: p.All().NELBO(confidence), Interpolated: max(train.Missing(), judge.Missing()), Loss: p.Falling(),
	}
	out.Rises, out.RiseMost, out.Moved = p.All().Rises()
	return out
}

func newChoice(in profile.Choice) choice {
	list := func(s profile.Schedule) judgedList { return judgedList{s.Sizes, s.Lambda} }
	out := choice{N: in.N, Root: in.Root, Use: list(in.Use), Flags: scheduleAsFlags(in.Use), Predicted: in.Predicted}
	for _, j := range in.Schedules {
		out.Schedules = append(out.Schedules, judgedSchedule{j.Name, list(j.Schedule), j.Calls, j.Excess, j.Gain})
	}
	return out
}

// scheduleAsFlags are the flags that have a schedule used.
func scheduleAsFlags(s profile.Schedule) string {
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
