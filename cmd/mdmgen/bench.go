package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/samplers"
)

// What bench runs where nothing else is said.
const (
	benchSamplers     = "fhs,parallel-fhs,euler,tweedie"
	benchSteps        = "8,32,128"
	benchRepetitions  = 5
	benchSequences    = 8
	benchWarmup       = 1
	benchErrorLength  = 8
	benchErrorSamples = 200
	// benchCertificateRuns is how many runs of first-hitting a certificate takes.
	benchCertificateRuns = 64
)

// benchFormats are what --format takes.
var benchFormats = []string{"md", "csv", "json", "jsonl", "benchstat"}

// catBench and catQuality are the categories of flags that say how long bench works, and
// what of samples it looks at.
const (
	catBench   = "Measurement"
	catQuality = "Quality"
)

func benchCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure what samplers cost, and what their steps buy",
		ArgsUsage: "[NEW.json, with --compare]",
		Description: "mdmgen bench\n" +
			"mdmgen bench --sampler fhs,euler,tweedie --steps 8-128*2 --max-time 5m --html bench.html\n" +
			"mdmgen bench --length 8 --sampler tweedie --grid uniform,paper --noise exp --steps 4-64*2 --quality error\n" +
			"mdmgen bench --case fhs --case 'tweedie steps=8,16 grid=lambda' --baseline fhs -o new.json --compare old.json\n" +
			"mdmgen bench --compare old.json new.json\n\n" +
			"Runs the cross product of samplers and settings, each of which may be a list (8,16,32) or a range (8-1024*2,\n" +
			"4-16+4). A setting goes to those samplers that use it. Cells are run in rounds, in an order shuffled anew in\n" +
			"each, and all cells of a round sample with the same random streams; ratios to --baseline are of pairs in one\n" +
			"round. --max-time bounds the whole call: what would not fit is not begun, and results then say so.\n\n" +
			"Times are of sampling alone: opening and warming up are not in them. Calls are a sequence's network calls; off\n" +
			"says by how many standard errors they differ from what the sampler's law expects. tokens/s are sampled tokens\n" +
			"a second of wall-clock time; in-step tokens/s canvas positions computed a second, which says how fast the\n" +
			"network is and not how soon the text is there.\n\n" +
			"--quality error draws texts of first-hitting on a window of --error-length positions and works out exactly how\n" +
			"probable each sampler makes them: TV(P_FHS, P_N) and KL(P_FHS‖P_N), the bound by collisions, which holds at any\n" +
			"length, and by how fast they fall with N. certificate bounds both at the full length by --certificate-runs runs of\n" +
			"first-hitting, for all samplers at once; coupling bounds TV by how often a text differs from that of first-hitting\n" +
			"by the same random numbers. text and nelbo look at the sampled sequences themselves.",
		Flags:  benchFlags(),
		Action: func(c *cli.Context) error { return benchAction(c, s) },
	}
}

// benchFlags are generate's where they mean the same, as lists.
func benchFlags() []cli.Flag {
	var out []cli.Flag
	for _, f := range append(sampleFlags(), callFlags()...) {
		name := f.Names()[0]
		text := f.(cli.DocGenerationFlag)
		switch {
		case name == "sampler":
			out = append(out, &cli.StringFlag{Name: name, Category: catSample, DefaultText: benchSamplers, Usage: "`LIST` of samplers: " + strings.Join(samplers.Names(), ", ")})
		case name == "steps":
			out = append(out, &cli.StringFlag{Name: name, Category: catSample, DefaultText: benchSteps, Usage: "`LIST` of numbers of steps of the grid, or groups of parallel-fhs"})
		case slices.Contains(bench.Keys(), name):
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
		&cli.StringSliceFlag{Name: "pair", Category: catBench, Usage: "set two cells beside each other, `'CELL vs CELL'`: differences of sampling error on the same texts, ratio of times in the same rounds; may be repeated"},
		&cli.Float64Flag{Name: "confidence", Value: estimate.DefaultConfidence, Category: catBench, Usage: "probability `P` of the intervals"},
		&cli.StringFlag{Name: "quality", Category: catQuality, DefaultText: "none", Usage: "`LIST` of what to look at: " + strings.Join(bench.Parts(), ", ")},
		&cli.IntFlag{Name: "error-length", Category: catQuality, DefaultText: fmt.Sprintf("%d, or a world's", benchErrorLength), Usage: "`N` free positions of the window of --quality error, each text taking 2^N network rows"},
		&cli.IntFlag{Name: "error-samples", Category: catQuality, DefaultText: fmt.Sprint(benchErrorSamples), Usage: "`N` texts of first-hitting for --quality error"},
		&cli.IntFlag{Name: "certificate-runs", Category: catQuality, DefaultText: fmt.Sprint(benchCertificateRuns), Usage: "`N` runs of first-hitting for --quality certificate, and pairs for coupling"},
		&cli.StringFlag{Name: "context", Category: catQuality, Usage: "put the windows of --quality error into the middle of pieces of the text in `FILE`"},
		&cli.IntFlag{Name: "draws", Category: catQuality, DefaultText: "16", Usage: "`N` draws of the NELBO of each sample"},
		&cli.StringFlag{Name: "evaluator", Category: catQuality, Usage: "generative perplexity of the samples under the causal language model in `PATH`, an .onnx file or its folder"},
		&cli.StringFlag{Name: "evaluator-tokenizer", Category: catQuality, DefaultText: "that in the evaluator's folder", Usage: "`PATH` of the evaluator's own tokenizer.json"},
		&cli.StringFlag{Name: "evaluator-bos", Category: catQuality, DefaultText: quality.BOSNone, Usage: "what stands before a text for the evaluator, " + quality.BOSEOS + " or " + quality.BOSNone + ": `WHAT`"},
		&cli.StringFlag{Name: "format", Value: "md", Category: catOutput, Usage: "`FORMAT` of the results: " + strings.Join(benchFormats, ", ")},
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Category: catOutput, Usage: "write the results to `FILE`, too, by its ending: .md, .csv, .json, .jsonl, .txt for benchstat; or FORMAT:FILE; may be repeated"},
		&cli.StringFlag{Name: "oe", Category: catOutput, Usage: "print the results on standard error, too, as `FORMAT`: " + strings.Join(benchFormats, ", ")},
		&cli.StringFlag{Name: "html", Category: catOutput, Usage: "write the report with its pictures to `FILE`, a page that needs nothing else"},
		&cli.StringFlag{Name: "plots", Category: catOutput, Usage: "write the pictures to the folder `DIR`, each as .svg and .png"},
		&cli.StringFlag{Name: "compare", Category: catOutput, Usage: "print what changed since the report in `OLD.json`; with a second report as argument, nothing is run"},
		&cli.StringFlag{Name: "resume", Category: catOutput, Usage: "keep what is finished in `FILE`, and go on from there when it exists"},
	)
	for _, f := range modelFlags() {
		if f.Names()[0] == "threads" {
			f = &cli.StringFlag{Name: "threads", Category: catModel, DefaultText: "all", Usage: "`LIST` of numbers of threads of one network call [$" + envThreads + "]"}
		}
		out = append(out, f)
	}
	return append(out, tokenizerFlag(), profileFlag())
}

// checkBenchFlags refuses what can be refused before anything is opened.
func checkBenchFlags(c *cli.Context) error {
	for _, flag := range []string{"format", "oe"} {
		if f := c.String(flag); c.IsSet(flag) && !slices.Contains(benchFormats, f) {
			return usagef("--%s %s: must be one of %s", flag, f, strings.Join(benchFormats, ", "))
		}
	}
	for flag, least := range inOrder(map[string]int{"n": 1, "repetitions": 1, "warmup": 0, "error-samples": 2, "certificate-runs": 2, "draws": 1}) {
		if n := c.Int(flag); (c.IsSet(flag) || n != 0) && (n < least || n > 1<<20) {
			return usagef("%s %d: must be in %d..%d", dashed(flag), n, least, 1<<20)
		}
	}
	if n := c.Int("error-length"); c.IsSet("error-length") && (n < 1 || n > likelihood.MaxFree) {
		return usagef("--error-length %d: must be in 1..%d: a text takes 2^%d network rows", n, likelihood.MaxFree, n)
	}
	if t := c.Duration("max-time"); c.IsSet("max-time") && t < time.Millisecond {
		return usagef("--max-time %v: must be at least 1ms", t)
	}
	if p := c.Float64("confidence"); !(p > 0 && p < 1) {
		return usagef("--confidence %v: must be between 0 and 1", p)
	}
	parts, err := benchParts(c)
	if err != nil {
		return err
	}
	for flag, part := range inOrder(map[string]string{"error-length": bench.PartError, "error-samples": bench.PartError, "context": bench.PartError, "draws": bench.PartNELBO}) {
		if c.IsSet(flag) && !slices.Contains(parts, part) {
			if err := leaveOut(c, usagef("--%s: has no meaning without --quality %s", flag, part), flag); err != nil {
				return err
			}
		}
	}
	if c.IsSet("certificate-runs") && !slices.Contains(parts, bench.PartCertificate) && !slices.Contains(parts, bench.PartCoupling) {
		if err := leaveOut(c, usagef("--certificate-runs: has no meaning without --quality %s or %s", bench.PartCertificate, bench.PartCoupling), "certificate-runs"); err != nil {
			return err
		}
	}
	for _, flag := range []string{"evaluator-tokenizer", "evaluator-bos"} {
		if c.IsSet(flag) && !c.IsSet("evaluator") {
			if err := leaveOut(c, usagef("--%s: has no meaning without --evaluator", flag), flag); err != nil {
				return err
			}
		}
	}
	if s := c.String("evaluator-bos"); c.IsSet("evaluator-bos") && s != quality.BOSEOS && s != quality.BOSNone {
		return usagef("--evaluator-bos %.40q: must be %s or %s", s, quality.BOSEOS, quality.BOSNone)
	}
	for _, flag := range []string{"evaluator", "evaluator-tokenizer", "baseline", "compare", "resume", "context", "oe"} {
		if c.IsSet(flag) && c.String(flag) == "" {
			return usagef("--%s: the value is empty", flag)
		}
	}
	return nil
}

// benchParts reads --quality.
func benchParts(c *cli.Context) ([]string, error) {
	if !c.IsSet("quality") {
		return nil, nil
	}
	var out []string
	for _, part := range strings.Split(c.String("quality"), ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(bench.Parts(), part) {
			return nil, usagef("--quality %.40q: must be of %s", part, strings.Join(bench.Parts(), ", "))
		}
		if slices.Contains(out, part) {
			return nil, usagef("--quality: %s stands there twice", part)
		}
		out = append(out, part)
	}
	slices.Sort(out)
	return out, nil
}

// benchSettings reads the grid of settings.
func benchSettings(c *cli.Context) ([]bench.Setting, error) {
	// A default of --sampler gives way to --case.
	cross := !c.IsSet("case") || given(c, "sampler") || c.IsSet("sampler") && !given(c, "case")
	var axes, run []bench.Axis
	for _, key := range bench.Keys() {
		if !c.IsSet(key) {
			continue
		}
		axis := bench.Axis{Key: key, Values: c.String(key), Optional: !given(c, key)}
		switch {
		case key == bench.KeyThreads && isWorld(c.String("model")) && !given(c, key):
		case key == bench.KeyLength, key == bench.KeyBatch, key == bench.KeyThreads:
			run = append(run, axis)
		case !cross && !given(c, key):
		default:
			axes = append(axes, axis)
		}
	}
	if !c.IsSet(bench.KeyThreads) && !isWorld(c.String("model")) {
		n, err := threadsOr(c)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			run = append(run, bench.Axis{Key: bench.KeyThreads, Values: strconv.Itoa(n)})
		}
	}
	var out []bench.Setting
	if cross {
		names := benchSamplers
		if c.IsSet("sampler") {
			names = c.String("sampler")
		}
		if !c.IsSet("steps") {
			axes = append(axes, bench.Axis{Key: "steps", Values: benchSteps, Optional: true})
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
	if err := benchProfile(c, out); err != nil {
		return nil, err
	}
	for _, s := range out {
		if _, err := samplers.New(s.Options, samplers.Spec{LogScores: true}); err != nil {
			return nil, usagef("bench: %s: %s", s.ID(), bare(err))
		}
	}
	return out, nil
}

// benchProfile gives settings of the profile's grid or sizes the loss profile.
func benchProfile(c *cli.Context, settings []bench.Setting) error {
	for i := range settings {
		o := &settings[i].Options
		if !o.ByProfile() {
			continue
		}
		if !c.IsSet("profile") {
			return usagef("bench: %s needs the network's loss profile: give it with --profile FILE, as `mdmgen score TEXT --profile FILE` writes it", settings[i].ID())
		}
		p, ok := c.App.Metadata[profileKey].(*readProfile)
		if !ok {
			var err error
			if p, err = openProfile(c.Context, c.String("profile")); err != nil {
				return err
			}
			c.App.Metadata[profileKey] = p
		}
		o.Profile = p.Falling()
	}
	if c.IsSet("profile") && profileDigest(c) == "" {
		return leaveOut(c, usagef("--profile: is read for grid=profile or sizes=profile only"), "profile")
	}
	return nil
}

func benchUsage(err error) error { return usagef("bench: %s", bare(err)) }
