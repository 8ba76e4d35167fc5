package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/samplers/catalog"
)

// What bench runs where nothing else is said.
const (
	defaultSteps        = "8,32,128"
	defaultErrorLength  = 8
	defaultErrorSamples = 200
	// defaultCertificateRuns is how many runs of first-hitting a certificate takes.
	defaultCertificateRuns = 64
	defaultDraws           = 16
)

// formats are what --format takes. The text is Markdown.
var formats = []string{"text", "csv", "json", "jsonl", "benchstat"}

// options are the flags.
type options struct {
	model     setup.Model
	sampler   setup.Sampler
	tokenizer setup.Tokenizer
	pages     kit.Pages
	// lists holds the flags that are settings of cells, which may be lists, by name.
	lists             map[string]*string
	cases, pairs      []string
	prefix, baseline  string
	n, repeat, warmup int
	maxTime           time.Duration
	confidence        float64
	quality           string
	// parts are what quality lists, sorted.
	parts []string
	// 0 where none is given.
	errorLength, errorSamples, certificateRuns, draws int
	context, evaluator, evaluatorTokenizer            string
	evaluatorReference                                string
	evaluatorBOS, evaluatorProtocol                   string
	// evaluatorContext is 0 where none is given.
	evaluatorContext int
	format, also     string
	outputs          []string
	compare          string
	chunks           chunks.Flags
	// partPath is the file of --shard.
	partPath string
	wide     bool
	all      flags.Set
}

// flags are the command's: generate's where they mean the same, as lists.
func (o *options) flags() flags.Set {
	o.n, o.repeat, o.warmup, o.confidence = 8, 5, 1, estimate.DefaultConfidence
	o.lists = make(map[string]*string)
	list := func(f flags.Flag) *flags.Flag {
		o.lists[f.Name] = new(string)
		return flags.Text(o.lists[f.Name], f)
	}
	none := func(string) bool { return false }
	var out flags.Set
	for _, f := range slices.Concat(o.sampler.Flags(), o.sampler.CallFlags()) {
		switch {
		case f.Name == "sampler":
			f = list(flags.Flag{Name: f.Name, Category: flags.CatSample, Default: strings.Join(bench.Compared(none), ","), Words: catalog.Names(), Usage: "`LIST` of samplers, each perhaps with settings of its own, as 'euler grid=paper': " + strings.Join(catalog.Names(), ", ")})
		case f.Name == "steps":
			f = list(flags.Flag{Name: f.Name, Category: flags.CatSample, Default: defaultSteps, Usage: "`LIST` of numbers of steps of the grid, or groups of parallel-fhs"})
		case slices.Contains(bench.Keys(), f.Name):
			f = list(flags.Flag{Name: f.Name, Category: flags.CatSample, Default: f.Default, Words: f.Words, Usage: "list: " + f.Usage})
		}
		out = append(out, f)
	}
	const most = 1 << 20
	o.all = slices.Concat(out, flags.Set{
		flags.Texts(&o.cases, flags.Flag{Name: "case", Category: flags.CatSample, Usage: "more settings, `'SAMPLER KEY=VALUES …'`, which take only length, batch and threads from the flags; may be repeated"}),
		list(flags.Flag{Name: "length", Category: flags.CatInput, Default: "the model's", Usage: "`LIST` of lengths of the canvas, in positions"}),
		flags.Text(&o.prefix, flags.Flag{Name: "prefix", Category: flags.CatInput, Usage: "`TEXT` that the samples begin with"}),
		flags.Int(&o.n, 1, most, flags.Flag{Name: "n", Category: flags.CatBench, Usage: "`N` sequences per repetition"}),
		flags.Int(&o.repeat, 1, most, flags.Flag{Name: "repetitions", Alias: "r", Category: flags.CatBench, Usage: "`N` repetitions of each cell"}),
		flags.Int(&o.warmup, 0, most, flags.Flag{Name: "warmup", Category: flags.CatBench, Usage: "`N` unmeasured batches that each cell samples first"}),
		flags.Duration(&o.maxTime, time.Millisecond, flags.Flag{Name: "max-time", Category: flags.CatBench, Default: "none", Usage: "end the whole call within `TIME`, such as 90s or 10m"}),
		flags.Name(&o.baseline, "the value is empty", flags.Flag{Name: "baseline", Category: flags.CatBench, Usage: "`CELL` to compare times with: a sampler, with KEY=VALUE where several cells have it"}),
		flags.Texts(&o.pairs, flags.Flag{Name: "pair", Category: flags.CatBench, Usage: "compare two cells, `'CELL vs CELL'`: differences of sampling error on the same texts, ratio of times in the same rounds; may be repeated"}),
		flags.Confidence(&o.confidence, flags.CatBench, "probability `P` of the intervals"),
		flags.Text(&o.quality, flags.Flag{Name: "quality", Category: flags.CatQuality, Default: "none", Words: bench.Parts(), Usage: "`LIST` of what to look at: " + strings.Join(bench.Parts(), ", ")}),
		flags.Int(&o.errorLength, 1, likelihood.MaxFree, flags.Flag{Name: "error-length", Category: flags.CatQuality, Default: fmt.Sprintf("%d, or a world's", defaultErrorLength), Usage: "`N` free positions of the window of --quality error, each text taking 2^N network rows"}),
		flags.Int(&o.errorSamples, 2, most, flags.Flag{Name: "error-samples", Category: flags.CatQuality, Default: fmt.Sprint(defaultErrorSamples), Usage: "`N` texts of first-hitting for --quality error"}),
		flags.Int(&o.certificateRuns, 2, most, flags.Flag{Name: "certificate-runs", Category: flags.CatQuality, Default: fmt.Sprint(defaultCertificateRuns), Usage: "`N` runs of first-hitting for --quality certificate, and pairs for coupling"}),
		flags.Name(&o.context, "the value is empty", flags.Flag{Name: "context", Category: flags.CatQuality, Usage: "put the windows of --quality error in the middle of passages of the text in `FILE`"}),
		flags.Int(&o.draws, 1, most, flags.Flag{Name: "draws", Category: flags.CatQuality, Default: fmt.Sprint(defaultDraws), Usage: "`N` draws of the NELBO of each sample"}),
		flags.Name(&o.evaluator, "the value is empty", flags.Flag{Name: "evaluator", Category: flags.CatQuality, Usage: "generative perplexity of the samples under the causal language model in `PATH`, an .onnx file or its folder, or OWNER/NAME[:FILE] of the hub"}),
		flags.Name(&o.evaluatorTokenizer, "the value is empty", flags.Flag{Name: "evaluator-tokenizer", Category: flags.CatQuality, Default: "that in the evaluator's folder", Usage: "`PATH` of the evaluator's own tokenizer.json"}),
		flags.Name(&o.evaluatorReference, "the value is empty", flags.Flag{Name: "evaluator-reference", Category: flags.CatQuality, Usage: "also measure the likeness (MAUVE) of the samples to the text in `FILE`, by the evaluator's logits"}),
		flags.Words(&o.evaluatorProtocol, quality.Protocols(), flags.Flag{Name: "evaluator-protocol", Category: flags.CatQuality, Default: quality.Sliding, Usage: "read texts as `NAME` does: " + strings.Join(quality.Protocols(), ", ")}),
		flags.Int(&o.evaluatorContext, 2, most, flags.Flag{Name: "evaluator-context", Category: flags.CatQuality, Default: "that in its config.json, or 1024", Usage: "`N` tokens that the evaluator sees at once"}),
		flags.Words(&o.evaluatorBOS, []string{quality.BOSEOS, quality.BOSNone}, flags.Flag{Name: "evaluator-bos", Category: flags.CatQuality, Default: quality.BOSNone, Usage: "`WHAT` precedes each text for the evaluator: " + quality.BOSEOS + " or " + quality.BOSNone}),
	}, flags.Format(&o.format, formats...), flags.Set{
		flags.Bool(&o.wide, flags.Flag{Name: "wide", Category: flags.CatOutput, Usage: "print all columns; csv and json always have them"}),
		flags.Texts(&o.outputs, flags.Flag{Name: "output", Alias: "o", Category: flags.CatOutput, Writes: true, Usage: "also write the results to `FILE`, in the format of its ending (.md for text, .csv, .json, .jsonl, .txt for benchstat), or FORMAT:FILE; may be repeated"}),
		flags.Words(&o.also, formats, flags.Flag{Name: "oe", Category: flags.CatOutput, Usage: "also print the results on standard error, as `FORMAT`: " + strings.Join(formats, ", ")}),
	}, o.pages.Flags(), flags.Set{
		flags.Name(&o.compare, "the value is empty", flags.Flag{Name: "compare", Category: flags.CatOutput, Usage: "print what changed since the report in `OLD.json`; given a second report as argument, nothing is run"}),
	}, o.chunks.Flags("records"))
	for _, f := range o.model.Flags() {
		if f.Name == "threads" {
			o.lists[f.Name] = new(string)
			f = setup.ThreadsFlag(o.lists[f.Name])
		}
		o.all = append(o.all, f)
	}
	o.all = slices.Concat(o.all, o.tokenizer.Flags(), flags.Set{o.sampler.Profile.Flag()})
	return o.all.Common("sampler", "steps", "case", "length", "n", "repetitions", "max-time", "baseline", "quality", "seed", "format", "wide", "output", "html", "compare", "resume", "model")
}

// check refuses what can be refused before anything is opened.
func (o *options) check(s kit.Streams) error {
	if err := o.checkShard(s); err != nil {
		return err
	}
	if err := o.readParts(); err != nil {
		return err
	}
	needs := map[string]string{"error-length": bench.PartError, "error-samples": bench.PartError, "context": bench.PartError, "draws": bench.PartNELBO}
	for _, flag := range slices.Sorted(maps.Keys(needs)) {
		if part := needs[flag]; !slices.Contains(o.parts, part) {
			if err := o.all.Unused("without --quality "+part, flag); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(o.parts, bench.PartCertificate) && !slices.Contains(o.parts, bench.PartCoupling) {
		if err := o.all.Unused("without --quality "+bench.PartCertificate+" or "+bench.PartCoupling, "certificate-runs"); err != nil {
			return err
		}
	}
	if o.evaluator == "" {
		return o.all.Unused("without --evaluator", "evaluator-tokenizer", "evaluator-bos", "evaluator-protocol", "evaluator-context", "evaluator-reference")
	}
	return nil
}

// readParts reads --quality.
func (o *options) readParts() error {
	if o.quality == "" {
		if o.all.IsSet("quality") {
			return exit.Usagef("--quality: must be of %s", strings.Join(bench.Parts(), ", "))
		}
		return nil
	}
	for _, part := range strings.Split(o.quality, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(bench.Parts(), part) {
			if part == "perplexity" || part == bench.PartEvaluator {
				return exit.Usagef("--quality %s: --evaluator MODEL asks for generative perplexity; --quality takes %s", part, strings.Join(bench.Parts(), ", "))
			}
			return exit.Usagef("--quality %.40q: must be of %s%s", part, strings.Join(bench.Parts(), ", "), flags.Suggested(part, bench.Parts()))
		}
		if slices.Contains(o.parts, part) {
			return exit.Usagef("--quality: %s appears twice", part)
		}
		o.parts = append(o.parts, part)
	}
	slices.Sort(o.parts)
	return nil
}
