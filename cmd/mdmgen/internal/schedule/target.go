package schedule

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"mdmgen/analysis/certificate"
	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/catalog"
)

// targetSchema names the layout of what schedule prints for a target.
const targetSchema = "mdmgen.target/1"

// Target is what schedule prints as JSON for a target.
type Target struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Meaning    string         `json:"meaning"`
	Seed       uint64         `json:"seed"`
	Batch      int            `json:"batch"`
	// Command runs the best setting, or first-hitting.
	Command string `json:"command"`
	*certificate.Found
}

// targetOptions are the flags that a target needs besides schedule's own.
type targetOptions struct {
	model   setup.Model
	sampler setup.Sampler
	tv      float64
	// 0 where none is given.
	runs, length int
	// search has the flags of a search.
	search flags.Set
}

func (o *targetOptions) flags() flags.Set {
	const most = 1 << 20
	o.search = flags.Set{
		flags.Number(&o.tv, "between 0 and 1", func(x float64) bool { return x > 0 && x < 1 }, flags.Flag{Name: "target-tv", Category: flags.CatSample, Default: "none", Usage: "find the cheapest setting with TV(P_FHS, P_N) ≤ `X` on the network"}),
		flags.Int(&o.runs, 2, most, flags.Flag{Name: "certificate-runs", Category: flags.CatSample, Default: "12.8/X, at least 64", Usage: "`N` runs of first-hitting that confirm a setting; half as many find out where to look"}),
	}
	keep := []string{"seed", "batch"}
	for _, option := range catalog.AllOptions() {
		if option.Token {
			keep = append(keep, option.Name)
		}
	}
	o.search = append(o.search, o.sampler.Flags().Only(keep...)...)
	return slices.Concat(o.search, flags.Set{
		flags.Int(&o.length, 1, most, flags.Flag{Name: "length", Category: flags.CatInput, Default: "the model's", Usage: "`N` positions of the canvas, all masked"}),
	}, o.model.Flags())
}

// grouped reports whether groups of spread are asked for.
func (o *options) grouped() bool { return o.all.IsSet("calls") || o.all.IsSet("target-kl-per-token") }

// checkGroups refuses flags of other ways to choose.
func (o *options) checkGroups() error {
	if err := o.all.Exclude([2]string{"calls", "target-kl-per-token"}, [2]string{"cache", "calls"}, [2]string{"cache", "profile"}); err != nil {
		return err
	}
	unused := append(o.target.search.Names(), "confidence")
	if o.cache {
		unused = slices.DeleteFunc(unused, func(name string) bool { return name == "seed" || name == "confidence" })
	}
	return o.all.Unused("with --calls or --target-kl-per-token", unused...)
}

// noFirstRow is why the first position of a network is given.
const noFirstRow = "the network predicts position l from row l−1, and has no row for the first"

// blank is the canvas of --length masks.
func (o *options) blank(f model.Facts) ([]int, error) {
	length := cmp.Or(o.target.length, f.Length)
	if f.Shift {
		return nil, exit.Usagef("schedule: %s: `mdmgen bound TEXT --context 1` has certificates behind a first token", noFirstRow)
	}
	l := &canvas.Layout{Facts: f, Length: canvas.Length{Total: length}}
	ids, err := l.FromIDs(make([]*int, length))
	if err != nil {
		return nil, exit.Usagef("--%s", err)
	}
	return ids, nil
}

// onCanvas has something found on a model and a canvas that is laid out for it, and commits what it writes.
func (o *options) onCanvas(ctx context.Context, s kit.Streams, lay func(model.Facts) ([]int, error), find func(out *kit.Output, m model.Model, canvas []int) error) (err error) {
	if err := kit.Apart("schedule", nil, o.all, kit.NamedFile{Flag: "-o", Path: o.output}); err != nil {
		return err
	}
	out, err := kit.NewResults(ctx, o.output, s.Out)
	if err != nil {
		return err
	}
	defer out.Discard()
	m, err := o.target.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	canvas, err := lay(m.Facts())
	if err != nil {
		return err
	}
	if err := find(out, m, canvas); err != nil {
		return err
	}
	return out.Commit()
}

// search reads what is looked for.
func (o *options) search() (cfg certificate.SearchConfig) {
	cfg.Most, cfg.Runs, cfg.Seed, cfg.Confidence = o.target.tv, o.target.runs, setup.SeedOr(o.target.sampler.Seed), o.confidence
	return cfg
}

// findTarget finds the cheapest setting within a target, and prints it.
func findTarget(ctx context.Context, s kit.Streams, o *options) error {
	cfg := o.search()
	draw, err := o.target.sampler.Bare(o.all)
	if err != nil {
		return err
	}
	read := setup.Profile{Path: o.profile}
	var loss []float64
	if o.profile != "" {
		p, err := read.Open(ctx)
		if err != nil {
			return err
		}
		if loss, err = p.Losses(o.profile); err != nil {
			return err
		}
	}
	cfg.Families = certificate.Families(draw.Draw, loss)
	return o.onCanvas(ctx, s, o.blank, func(out *kit.Output, m model.Model, ids []int) error {
		cfg.Batch = cmp.Or(o.target.sampler.Batch, setup.BatchOf(m.Facts()))
		o.target.sampler.ShowSeed(s, cfg.Seed)
		bar := kit.NewBar(s, cfg.Work(), "certifying", "runs")
		cfg.OnRun = func() { bar.Add(1) }
		found, err := certificate.Search(ctx, m, ids, cfg)
		bar.Clear()
		if err != nil {
			return cmp.Or(ctx.Err(), fmt.Errorf("schedule: %w", fault.WithoutName(err)))
		}
		return printTarget(out, o.format, Target{Schema: targetSchema, Provenance: kit.NewProvenance(m, nil), Meaning: found.Meaning(), Seed: cfg.Seed, Batch: cfg.Batch, Command: o.command(len(ids), found), Found: found})
	})
}

// command is the one that runs what was found.
func (o *options) command(length int, found *certificate.Found) string {
	setting := certificate.Candidate{Options: catalog.Options{Sampler: "fhs", Draw: found.Draw}}
	if found.Best != nil {
		setting = *found.Best
	}
	flags := setting.Flags()
	if setting.Options.ByProfile() {
		flags += " --profile " + kit.Quoted(o.profile)
	}
	return o.generating(length, flags)
}

// generating is the command that samples by a setting, with the flags that change what the model is.
func (o *options) generating(length int, setting string) string {
	out := fmt.Sprintf("mdmgen generate --model %s --length %d %s", kit.Quoted(o.target.model.Ref), length, setting)
	for _, fact := range o.target.model.Facts {
		out += " --fact " + kit.Quoted(fact)
	}
	if o.target.model.Sidecar != "" {
		out += " --sidecar " + kit.Quoted(o.target.model.Sidecar)
	}
	return out
}

func printTarget(out *kit.Output, format string, r Target) error {
	if format != "text" {
		return kit.WriteRecord(out, format, r)
	}
	var b bytes.Buffer
	r.Markdown(&b)
	fmt.Fprintf(out, "%s\n%s\nto use:\n  %s\n", b.Bytes(), kit.Wrap(r.Meaning, kit.Width, ""), r.Command) // A failure is kept until Commit.
	return nil
}
