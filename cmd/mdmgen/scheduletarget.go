package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/profile"
	"mdmgen/analysis/quality"
	"mdmgen/model"
	"mdmgen/samplers"
)

// targetSchema names the layout of what schedule prints for a target.
const targetSchema = "mdmgen.target/1"

// targetRecord is what schedule prints as JSON for a target.
type targetRecord struct {
	Schema     string     `json:"schema"`
	Provenance provenance `json:"provenance"`
	Meaning    string     `json:"meaning"`
	Seed       uint64     `json:"seed"`
	Batch      int        `json:"batch"`
	// Command runs the best setting, or first-hitting.
	Command string `json:"command"`
	*certificate.Found
}

// targetFlags are the flags that a target needs besides schedule's own.
func targetFlags() []cli.Flag {
	out := []cli.Flag{
		&cli.Float64Flag{Name: "target-tv", Category: catSample, DefaultText: "none", Usage: "find the cheapest setting with TV(P_FHS, P_N) ≤ `X` on the network"},
		&cli.Float64Flag{Name: "target-kl", Category: catSample, DefaultText: "none", Usage: "find the cheapest setting with KL(P_FHS‖P_N) ≤ `X` nats"},
		&cli.IntFlag{Name: "certificate-runs", Category: catSample, DefaultText: "12.8/X, at least 64", Usage: "`N` runs of first-hitting to confirm a target; half as many find out where to look"},
		&cli.IntFlag{Name: "length", Category: catInput, DefaultText: "the model's", Usage: "`N` positions of the canvas, all masked"},
	}
	for _, f := range sampleFlags() {
		if o, ok := f.(*optionFlag); ok && o.option.Token || slices.Contains([]string{"seed", "batch"}, f.Names()[0]) {
			out = append(out, f)
		}
	}
	return append(out, modelFlags()...)
}

// targeted says whether a target is asked for. Flags of the other way to choose are refused.
func targeted(c *cli.Context) (bool, error) {
	if err := exclude(c, [][2]string{{"target-tv", "target-kl"}, {"target-tv", "steps"}, {"target-kl", "steps"}}, apartFlags); err != nil {
		return false, err
	}
	if c.IsSet("target-tv") || c.IsSet("target-kl") {
		return true, nil
	}
	for _, f := range targetFlags() {
		if name := f.Names()[0]; c.IsSet(name) {
			if err := leaveOut(c, usagef("schedule: --%s: has no meaning without --target-tv or --target-kl", name), name); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// target reads what is looked for.
func target(c *cli.Context, kind profile.Kind) (cfg certificate.SearchConfig, err error) {
	cfg.Target = certificate.Target{Distance: quality.TV, Most: c.Float64("target-tv")}
	if c.IsSet("target-kl") {
		cfg.Target = certificate.Target{Distance: quality.KL, Most: c.Float64("target-kl")}
	}
	switch x := cfg.Most; {
	case cfg.Distance == quality.TV && !(x > 0 && x < 1):
		return cfg, usagef("--target-tv %v: must be between 0 and 1", x)
	case !(x > 0) || math.IsInf(x, 1):
		return cfg, usagef("--target-kl %v: must be a finite number of nats above 0", x)
	case cfg.Distance == quality.KL && c.IsSet("kind") && kind == profile.Sizes:
		return cfg, usagef("--kind sizes: blocks of fixed sizes have no limit of KL that is finite: leave it out")
	}
	for flag, least := range inOrder(map[string]int{"certificate-runs": 2, "length": 1, "batch": 1}) {
		if n := c.Int(flag); c.IsSet(flag) && (n < least || n > 1<<20) {
			return cfg, usagef("--%s %d: must be in %d..%d", flag, n, least, 1<<20)
		}
	}
	cfg.Runs, cfg.Seed, cfg.Confidence = c.Int("certificate-runs"), c.Uint64("seed"), c.Float64("confidence")
	if !c.IsSet("seed") {
		cfg.Seed = rand.Uint64() >> 11
	}
	return cfg, nil
}

// scheduleTarget finds the cheapest setting within a target, and prints it.
func scheduleTarget(c *cli.Context, s streams, kind profile.Kind) (err error) {
	cfg, err := target(c, kind)
	if err != nil {
		return err
	}
	o, err := bareOptions(c)
	if err != nil {
		return err
	}
	var loss []float64
	if c.IsSet("profile") {
		p, err := openProfile(c.Context, c.String("profile"))
		if err != nil {
			return err
		}
		c.App.Metadata[profileKey], loss = p, p.Falling()
	}
	free := !c.IsSet("kind")
	cfg.Families = certificate.Families(o.Draw, loss, cfg.Distance == quality.TV && (free || kind == profile.Sizes), free || kind == profile.Grid)
	out, err := newResults(c, s.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	m, err := openModel(c.Context, c, s)
	if err != nil {
		return err
	}
	defer closing(m, &err)
	noticeProfile(c, s, m)
	f := m.Facts()
	l := &layout{facts: f, length: cmp.Or(c.Int("length"), f.Length)}
	canvas, err := l.fromIDs(make([]*int, l.length))
	if err != nil {
		return usagef("--%s", err)
	}
	if f.Shift {
		return usagef("schedule: the network predicts position l from row l−1, and has no row for the first")
	}
	cfg.Batch = cmp.Or(c.Int("batch"), map[bool]int{true: 256, false: 8}[f.Family == "world"])
	if !c.IsSet("seed") {
		s.notice(fmt.Sprintf("seed %d", cfg.Seed))
	}
	bar := newBar(s, cfg.Work(), true, "certifying", "runs")
	cfg.OnRun = func() { bar.add(1) }
	found, err := certificate.Search(c.Context, m, canvas, cfg)
	bar.clear()
	if err != nil {
		return cmp.Or(c.Context.Err(), fmt.Errorf("schedule: %w", &bareCause{err}))
	}
	return printTarget(c, out, m, targetRecord{Schema: targetSchema, Meaning: found.Meaning(), Seed: cfg.Seed, Batch: cfg.Batch, Command: targetCommand(c, l.length, found), Found: found})
}

// targetCommand is the command that runs what was found.
func targetCommand(c *cli.Context, length int, found *certificate.Found) string {
	setting := certificate.Candidate{Options: samplers.Options{Sampler: "fhs", Draw: found.Draw}}
	if found.Best != nil {
		setting = *found.Best
	}
	out := []string{"mdmgen generate --model", quoted(c.String("model")), "--length", fmt.Sprint(length), setting.Flags()}
	if setting.Options.ByProfile() {
		out = append(out, "--profile", quoted(c.String("profile")))
	}
	return strings.Join(out, " ")
}

// quoted is a word as a shell reads it back.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func printTarget(c *cli.Context, out *output, m model.Model, r targetRecord) error {
	r.Provenance = newProvenance(m, nil)
	if c.Bool("json") {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r); err != nil {
			return err
		}
		return out.Commit()
	}
	var b bytes.Buffer
	r.Markdown(&b)
	fmt.Fprintf(&b, "\n%s", wrap(r.Meaning, width, ""))
	fmt.Fprintf(&b, "\nto use:\n  %s\n", r.Command)
	if _, err := out.Write(b.Bytes()); err != nil {
		return err
	}
	return out.Commit()
}
