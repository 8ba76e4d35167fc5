package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
)

// What bench runs where nothing else is said.
const (
	benchSamplers    = "fhs,parallel-fhs,euler,tweedie"
	benchSteps       = "8,32,128"
	benchRepetitions = 5
	benchSequences   = 8
	benchWarmup      = 1
)

// benchFormats are what --format takes.
var benchFormats = []string{"md", "csv", "json", "jsonl", "benchstat"}

func benchCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "measure what samplers cost, and what their steps buy",
		Description: "mdmgen bench\n" +
			"mdmgen bench --sampler fhs,euler,tweedie --steps 8-128*2 --max-time 5m\n" +
			"mdmgen bench --case fhs --case 'tweedie steps=8,16 grid=lambda' --baseline fhs --format benchstat\n\n" +
			"Runs the cross product of samplers and settings, each of which may be a list (8,16,32) or a range (8-1024*2,\n" +
			"4-16+4). A setting goes to those samplers that use it. Cells are run in rounds, in an order shuffled anew in\n" +
			"each, and all cells of a round sample with the same random streams; ratios to --baseline are of pairs in one\n" +
			"round. --max-time bounds the whole call: what would not fit is not begun, and results then say so.\n\n" +
			"Times are of sampling alone: opening and warming up are not in them. Calls are a sequence's network calls; off\n" +
			"says by how many standard errors they differ from what the sampler's law expects. tokens/s are sampled tokens\n" +
			"a second of wall-clock time; in-step tokens/s canvas positions computed a second, which says how fast the\n" +
			"network is and not how soon the text is there.",
		Flags:  benchFlags(),
		Action: func(c *cli.Context) error { return benchAction(c, s) },
	}
}

// benchFlags are generate's where they mean the same, as lists.
func benchFlags() []cli.Flag {
	var out []cli.Flag
	for _, f := range sampleFlags() {
		name := f.Names()[0]
		text := f.(cli.DocGenerationFlag)
		switch {
		case name == "sampler":
			out = append(out, &cli.StringFlag{Name: name, Category: catSample, DefaultText: benchSamplers, Usage: "`LIST` of samplers: " + strings.Join(samplerList(), ", ")})
		case name == "steps":
			out = append(out, &cli.StringFlag{Name: name, Category: catSample, DefaultText: benchSteps, Usage: "`LIST` of numbers of steps of the grid, or groups of parallel-fhs"})
		case name == bench.KeyBatch || slices.Contains(bench.Keys(), name):
			out = append(out, &cli.StringFlag{Name: name, Category: catSample, DefaultText: text.GetDefaultText(), Usage: "list: " + text.GetUsage()})
		default:
			out = append(out, f)
		}
	}
	out = append(out,
		&cli.StringSliceFlag{Name: "case", Category: catSample, Usage: "more settings, `'SAMPLER KEY=VALUES …'`, which take nothing from the flags but length, batch and threads; may be repeated"},
		&cli.StringFlag{Name: "length", Category: catInput, DefaultText: "the model's", Usage: "`LIST` of lengths of the canvas, in positions"},
		&cli.StringFlag{Name: "prefix", Category: catInput, Usage: "`TEXT` that the samples begin with"},
		&cli.IntFlag{Name: "n", Value: benchSequences, Category: catBench, Usage: "`N` sequences in a repetition"},
		&cli.IntFlag{Name: "repetitions", Aliases: []string{"r"}, Value: benchRepetitions, Category: catBench, Usage: "`N` repetitions of each cell"},
		&cli.IntFlag{Name: "warmup", Value: benchWarmup, Category: catBench, Usage: "`N` batches that each cell samples before, unmeasured"},
		&cli.DurationFlag{Name: "max-time", Category: catBench, DefaultText: "none", Usage: "end the whole call within `TIME`, such as 90s or 10m"},
		&cli.StringFlag{Name: "baseline", Category: catBench, Usage: "`CELL` that times are compared with: a sampler, with KEY=VALUE where several cells have it"},
		&cli.Float64Flag{Name: "confidence", Value: estimate.DefaultConfidence, Category: catBench, Usage: "probability `P` of the intervals"},
		&cli.StringFlag{Name: "format", Value: "md", Category: catOutput, Usage: "`FORMAT` of the results: " + strings.Join(benchFormats, ", ")},
	)
	for _, f := range modelFlags() {
		if f.Names()[0] == "threads" {
			f = &cli.StringFlag{Name: "threads", Category: catModel, EnvVars: []string{"MDMGEN_THREADS"}, DefaultText: "all", Usage: "`LIST` of numbers of threads of one network call"}
		}
		out = append(out, f)
	}
	return append(out, tokenizerFlag())
}

// catBench is the category of flags that say how long bench works.
const catBench = "Measurement"

func samplerList() []string {
	var names []string
	for _, d := range samplers.Descriptors() {
		names = append(names, d.Name)
	}
	return names
}

// checkBenchFlags refuses what can be refused before anything is opened.
func checkBenchFlags(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if f := c.String("format"); !slices.Contains(benchFormats, f) {
		return usagef("--format %s: must be one of %s", f, strings.Join(benchFormats, ", "))
	}
	for flag, least := range map[string]int{"n": 1, "repetitions": 1, "warmup": 0} {
		if n := c.Int(flag); n < least || n > 1<<20 {
			return usagef("%s %d: must be in %d..%d", dashed(flag), n, least, 1<<20)
		}
	}
	if t := c.Duration("max-time"); c.IsSet("max-time") && t < time.Millisecond {
		return usagef("--max-time %v: must be at least 1ms", t)
	}
	if p := c.Float64("confidence"); !(p > 0 && p < 1) {
		return usagef("--confidence %v: must be between 0 and 1", p)
	}
	return nil
}

// benchSettings reads the grid of settings.
func benchSettings(c *cli.Context) ([]bench.Setting, error) {
	var axes, run []bench.Axis
	for _, key := range bench.Keys() {
		if !c.IsSet(key) {
			continue
		}
		axis := bench.Axis{Key: key, Values: c.String(key)}
		switch key {
		case bench.KeyLength, bench.KeyBatch, bench.KeyThreads:
			run = append(run, axis)
		default:
			axes = append(axes, axis)
		}
	}
	var out []bench.Setting
	if c.IsSet("sampler") || !c.IsSet("case") {
		names := benchSamplers
		if c.IsSet("sampler") {
			names = c.String("sampler")
		}
		if !c.IsSet("steps") && !c.IsSet("kappa") {
			axes = append(axes, bench.Axis{Key: samplers.FlagSteps, Values: benchSteps})
		}
		made, err := bench.Cross(strings.Split(names, ","), axes)
		if err != nil {
			return nil, benchUsage(err)
		}
		out = made
	} else if len(axes) > 0 {
		return nil, usagef("--%s: goes to the samplers of --sampler, and none is given: write it into --case", axes[0].Key)
	}
	for _, text := range c.StringSlice("case") {
		made, err := bench.ParseCase(text)
		if err != nil {
			return nil, benchUsage(err)
		}
		out = append(out, made...)
	}
	out, err := bench.Fill(out, run)
	if err == nil {
		err = bench.Distinct(out)
	}
	if err != nil {
		return nil, benchUsage(err)
	}
	for _, s := range out {
		if _, err := samplers.New(s.Options, samplers.Conditions{}); err != nil {
			return nil, usagef("bench: %s: %s", s.ID(), bare(err))
		}
	}
	return out, nil
}

func benchUsage(err error) error {
	return usagef("bench: %s", strings.TrimPrefix(bare(err), "bench: "))
}

// benchLine is a line about a bench for standard error.
func benchLine(s streams, format string, args ...any) {
	s.notice("bench: " + fmt.Sprintf(format, args...))
}
