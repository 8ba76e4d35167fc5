package bench

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/suggest"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// defaultSteps is the default of --steps.
const defaultSteps = "8,32,128"

// amounts maps the parts of --quality that take a number of samples to their defaults.
var amounts = map[string]int{bench.PartError: 200, bench.PartCertificate: 64, bench.PartNELBO: 16, bench.PartAudit: 8, bench.PartCausal: 32}

// formats are the values of --format. text is Markdown.
var formats = []string{"text", "csv", "json", "jsonl", "tex"}

// options holds the flags.
type options struct {
	model     setup.Model
	sampler   setup.Sampler
	tokenizer setup.Tokenizer
	pages     kit.Pages
	chunks    chunks.Flags
	// lists holds, by name, the flags that are settings of cells, which may be lists.
	lists             map[string]*string
	set, cases        []string
	callsText         string
	calls             []int // nil without --calls
	prefix            string
	n, repeat, warmup int
	maxTime           time.Duration
	quick             bool // see beQuick
	confidence        float64
	quality           string
	// parts are the sorted parts of quality; amounts are their numbers of samples.
	parts                                            []string
	amounts                                          map[string]int
	evaluator, evaluatorTokenizer, evaluatorProtocol string
	format, output                                   string
	all                                              kit.Set
}

// flags returns the flags of the command. The settings of samplers are lists.
func (o *options) flags() kit.Set {
	o.n, o.repeat, o.warmup, o.confidence = 8, 5, 1, estimate.DefaultConfidence
	o.lists = make(map[string]*string)
	list := func(f kit.Flag) *kit.Flag {
		o.lists[f.Name] = new(string)
		return kit.Text(o.lists[f.Name], f)
	}
	none := func(string) bool { return false }
	const most = 1 << 20
	o.all = slices.Concat(kit.Set{
		list(kit.Flag{Name: "sampler", Category: kit.CatSample, Default: strings.Join(bench.Compared(none), ","), Words: catalog.Names(), Usage: "measure a `LIST` of samplers, each optionally with settings, such as 'euler grid=paper'"}),
		list(kit.Flag{Name: "steps", Category: kit.CatSample, Default: defaultSteps, Usage: "take a `LIST` of numbers of steps or groups"}),
		kit.Text(&o.callsText, kit.Flag{Name: "calls", Category: kit.CatSample, Default: "none", Usage: "choose steps for a `LIST` of network calls"}),
		list(kit.Flag{Name: "grid", Category: kit.CatSample, Default: "each sampler's", Usage: "take a `LIST` of grids: uniform, lambda, paper, cos2, cosine, theta:LIST or lambda:LIST"}),
		list(kit.Flag{Name: cache.Option.Name, Category: kit.CatSample, Default: "none", Usage: "take a `LIST` of caches: none, auto, window:W/REFRESH/ROUND, dual, prefix"}),
		kit.Texts(&o.set, kit.Flag{Name: "set", Category: kit.CatSample, Usage: "vary any other setting, `KEY=VALUES`, such as temperature=0.7,1; mdmgen samplers NAME lists them; may be repeated"}),
		kit.Texts(&o.cases, kit.Flag{Name: "case", Category: kit.CatSample, Usage: "add `'SAMPLER KEY=VALUES …'`, which takes only length, batch and threads from the flags; may be repeated"}),
		list(kit.Flag{Name: "batch", Category: kit.CatSample, Default: "up to 8", Usage: "pass a `LIST` of numbers of canvases to each network call; samples do not depend on it"}),
		o.sampler.Flags().Find("seed"),
		o.sampler.Profile.Flag(),
		list(kit.Flag{Name: "length", Category: kit.CatInput, Default: "the model's", Usage: "take a `LIST` of canvas lengths, in positions"}),
		kit.Text(&o.prefix, kit.Flag{Name: "prefix", Category: kit.CatInput, Usage: "begin each sample with `TEXT`"}),
		kit.Int(&o.n, 1, most, kit.Flag{Name: "n", Category: kit.CatBench, Usage: "draw `N` sequences per repetition"}),
		kit.Int(&o.repeat, 1, most, kit.Flag{Name: "repetitions", Alias: "r", Category: kit.CatBench, Usage: "repeat each cell `N` times"}),
		kit.Int(&o.warmup, 0, most, kit.Flag{Name: "warmup", Category: kit.CatBench, Usage: "run `N` unmeasured batches first, for each length, batch and number of threads"}),
		kit.Duration(&o.maxTime, time.Millisecond, kit.Flag{Name: "max-time", Category: kit.CatBench, Default: "none", Usage: "end the whole call within `TIME`, such as 90s or 10m"}),
		kit.Confidence(&o.confidence, kit.CatBench, "compute intervals of probability `P`"),
		kit.Text(&o.quality, kit.Flag{Name: "quality", Category: kit.CatQuality, Default: "none", Words: bench.Parts(), Usage: "measure a `LIST` of: error (from 200 texts of First-Hitting), certificate (64 of its runs), text, nelbo (16 draws per sample), audit (8 texts), causal (32 texts of each law); error=N changes a number"}),
		kit.Name(&o.evaluator, "the value is empty", kit.Flag{Name: "evaluator", Category: kit.CatQuality, Usage: "measure generative perplexity under the causal language model in `PATH`, an .onnx file or its folder, or OWNER/NAME[:FILE] of the hub"}),
		kit.Name(&o.evaluatorTokenizer, "the value is empty", kit.Flag{Name: "evaluator-tokenizer", Category: kit.CatQuality, Default: "the one in the evaluator's folder", Usage: "use the evaluator's tokenizer.json at `PATH`"}),
		kit.Words(&o.evaluatorProtocol, quality.Protocols(), kit.Flag{Name: "evaluator-protocol", Category: kit.CatQuality, Default: quality.Sliding, Usage: "read texts as `NAME` does: " + strings.Join(quality.Protocols(), ", ")}),
	}, kit.Format(&o.format, formats...), kit.Set{
		kit.Name(&o.output, "name a file, or - for standard output", kit.Flag{Name: "output", Alias: "o", Category: kit.CatOutput, Writes: true, Usage: "write to `FILE` (default: standard output), in the format of its ending: .md, .csv, .json, .jsonl or .tex"}),
	}, o.pages.Flags(), o.chunks.Flags("measurements").Only("resume"))
	for _, f := range o.model.Flags() {
		if f.Name == bench.KeyThreads {
			o.lists[f.Name] = new(string)
			f = setup.ThreadsFlag(o.lists[f.Name])
		}
		o.all = append(o.all, f)
	}
	o.all = append(o.all, o.tokenizer.Flag())
	return o.all.Common("sampler", "steps", "calls", "set", "case", "length", "n", "repetitions", "max-time", "quality", "seed", "format", "output", "html", "model")
}

// quick are the settings of a call without flags about what is measured: the default sampler first, and
// at most a minute in all.
var quick = [][2]string{{"sampler", "fhs,parallel-fhs,tweedie,spread"}, {"steps", "8,32"}, {"n", "4"}, {"repetitions", "2"}, {"max-time", "50s"}}

// beQuick sets the flags of quick, if no flag is given but those of the run and of the model.
func (o *options) beQuick() error {
	for _, f := range o.all {
		if f.IsSet() && f.Category != kit.CatGeneral && f.Name != "seed" {
			return nil
		}
	}
	o.quick = true
	for _, q := range quick {
		if err := o.all.Find(q[0]).Set(q[1]); err != nil {
			return err
		}
	}
	return nil
}

// check returns the errors that can be found before anything is opened.
func (o *options) check(context.Context, kit.Streams, []string) error {
	if err := o.beQuick(); err != nil {
		return err
	}
	if err := o.readParts(); err != nil {
		return err
	}
	if o.callsText != "" {
		if err := o.all.Exclude([2]string{"calls", "steps"}); err != nil {
			return err
		}
		var err error
		if o.calls, err = bench.Ints(o.callsText, 1, schedule.MaxSteps); err != nil {
			return exit.Usagef("--calls: %s", fault.Plain(err))
		}
	}
	if o.evaluator == "" {
		return o.all.Unused("without --evaluator", "evaluator-tokenizer", "evaluator-protocol")
	}
	return nil
}

// readParts parses --quality.
func (o *options) readParts() error {
	o.amounts = make(map[string]int)
	if !o.all.Given("quality") {
		return nil
	}
	for _, item := range strings.Split(o.quality, ",") {
		part, number, given := strings.Cut(strings.TrimSpace(item), "=")
		n, counted := amounts[part]
		switch {
		case part == "perplexity" || part == bench.PartEvaluator:
			return exit.Usagef("--quality %s: --evaluator MODEL asks for generative perplexity; --quality takes %s", part, strings.Join(bench.Parts(), ", "))
		case !slices.Contains(bench.Parts(), part):
			return exit.Usagef("--quality %.40q: must be one of %s%s", part, strings.Join(bench.Parts(), ", "), suggest.Ending(part, bench.Parts()))
		case slices.Contains(o.parts, part):
			return exit.Usagef("--quality: %s appears twice", part)
		}
		if given {
			var err error
			if n, err = strconv.Atoi(number); err != nil || !counted || n < 2 && part != bench.PartNELBO || n < 1 || n > 1<<20 {
				return exit.Usagef("--quality %.40s: must be error=N, certificate=N, nelbo=N, audit=N or causal=N, with N in 2..%d", item, 1<<20)
			}
		}
		o.parts = append(o.parts, part)
		o.amounts[part] = n
	}
	slices.Sort(o.parts)
	return nil
}
