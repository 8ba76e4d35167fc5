package generate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/requests"
)

// options holds the flags.
type options struct {
	model     setup.Model
	sampler   setup.Sampler
	tokenizer setup.Tokenizer
	// n is the number of samples of each canvas; a Length of 0 is the model's.
	n int
	requests.Length
	prefix, suffix, infill string
	chat, input, negative  string
	kwargs                 map[string]any
	// stop is the text of --stop, "" if it is an id.
	stop           string
	badWords       []string
	format, output string
	// record is the file of the run's record, "" for none. beside reports that it was derived from
	// -o: it is then written only together with the file of -o.
	record string
	beside bool
	dryRun bool
	// keepBlank leaves a blank before masks where it is.
	keepBlank bool
	// cacheMemory limits the memory of --cache, in bytes; 0 means half of the free memory.
	cacheMemory uint64
	keep        uint64
	// audit is 0 if no audit is asked for.
	audit float64
	show  shown
	matching
	chunks chunks.Flags
	all    kit.Set
}

// flags returns the flags of the command.
func (o *options) flags() kit.Set {
	o.n = 1
	o.all = slices.Concat(o.sampler.Flags(), kit.Set{
		o.sampler.CallsFlag(),
		kit.Number(&o.audit, "above 0 and at most 1", func(x float64) bool { return x > 0 && x <= 1 }, kit.Flag{Name: "audit", Category: kit.CatSample, Default: "none", Usage: "measure the loss of a fraction `F` of the groups or cached calls"}),
	}, o.sampler.CallFlags(), kit.Set{
		kit.Int(&o.n, 1, requests.MaxSamples, kit.Flag{Name: "n", Category: kit.CatInput, Usage: "draw `N` samples, or N for each line of --input"}),
		kit.Parsed(&o.Length, requests.ParseLength, requests.Length.String, kit.Flag{Name: "length", Category: kit.CatInput, Default: "the model's, +256 for an answer",
			Usage: "use `N` positions, or +N to fill (--max-new-tokens N)"}),
		kit.Text(&o.prefix, kit.Flag{Name: "prefix", Category: kit.CatInput, Usage: "begin each sample, or answer to --chat, with `TEXT`; also --prompt, --answer-prefix", Synonyms: []kit.Synonym{{Name: "answer-prefix", Value: "%s"}}}),
		kit.Text(&o.suffix, kit.Flag{Name: "suffix", Category: kit.CatInput, Usage: "end each sample, or answer, with `TEXT`"}),
		kit.Text(&o.infill, kit.Flag{Name: "infill", Category: kit.CatInput, Usage: "fill the gaps of `TEMPLATE`, {{N}} for N masks, {{*}} for the rest"}),
		kit.Name(&o.negative, "give the text", kit.Flag{Name: "negative", Category: kit.CatInput, Rare: true, Usage: "replace the prompt with `TEXT` on the unconditional canvas"}),
		kit.Texts(&o.badWords, kit.Flag{Name: "bad-words", Category: kit.CatSample, Usage: "never write `TEXT`, with or without a blank before it; may be repeated"}),
		kit.Text(&o.chat, kit.Flag{Name: "chat", Category: kit.CatInput, Usage: "answer the message `TEXT`, by the model's chat template"}),
		setup.KwargsFlag(&o.kwargs),
		kit.Name(&o.input, "name a file, or - for standard input", kit.Flag{Name: "input", Category: kit.CatInput, Usage: "read canvases from `FILE`, one JSON object per line; - is standard input"}),
		kit.KeepBlank(&o.keepBlank),
		setup.CacheMemoryFlag(&o.cacheMemory), setup.KeepFlag(&o.keep, 64<<20),
		kit.Bool(&o.dryRun, kit.Flag{Name: "dry-run", Category: kit.CatOutput, Usage: "sample nothing; predict the network calls, seconds and memory"}),
	}, kit.Format(&o.format, formats...), kit.Set{
		kit.OutputFlag(&o.output),
		kit.Name(&o.record, "name a file", kit.Flag{Name: "record", Category: kit.CatOutput, Writes: true, Default: "OUT.record.json beside -o OUT.jsonl", Usage: "write the record to `FILE`"}),
	}, o.matching.flags(), o.show.flags(), o.chunks.Flags("samples"),
		o.model.Flags(), kit.Set{o.tokenizer.Flag(), o.sampler.Profile.Flag()})
	o.all.Find("stop").OrText(&o.stop)
	return o.all.Common("n", "length", "prefix", "suffix", "infill", "chat", "input", "sampler", "calls", "steps", "seed", "temperature", "top-p", "dry-run", "format", "output", "model", "tokenizer")
}

// check returns the errors that can be found before anything is opened.
func (o *options) check(ctx context.Context, s kit.Streams, args []string) error {
	if o.all.Given("n") && o.all.Find("n").Typed() == "-n" && o.all.Find("prefix").Typed() == "-p" {
		return exit.Usagef("generate: -n is a number of samples here, not of tokens: write --prefix TEXT with --length +%d, or with -n %[1]d", o.n)
	}
	text, given, err := s.TextArgument(args)
	if err != nil {
		return err
	}
	if given {
		to := "prefix"
		if strings.Contains(text, "{{") {
			to = "infill"
		}
		if f := o.all.Find(to); f.IsSet() {
			return exit.Usagef("generate: %s and the argument %.40q both give the text; use one", f.Typed(), text)
		} else if err := f.Set(text); err != nil {
			return err
		}
	}
	if err := o.all.ExcludeAs("%s and %s both give the text; use one",
		[][2]string{{"input", "prefix"}, {"input", "suffix"}, {"input", "infill"}, {"infill", "prefix"}, {"infill", "suffix"}, {"chat", "input"}}...); err != nil {
		return err
	}
	switch {
	case o.chat == "" && o.all.Given("chat-template-kwargs"):
		return o.all.Unused("without --chat", "chat-template-kwargs")
	case o.all.Given("infill") && o.infill == "":
		return exit.Usagef("--infill: the template is empty: write {{N}} for N masks, or {{*}} for the rest")
	case o.all.Given("chat") && o.chat == "":
		return exit.Usagef("--chat: the message is empty")
	}
	if err := o.checkSampler(ctx, s); err != nil {
		return err
	}
	switch {
	case o.negative != "" && !o.all.Given("guidance"):
		return exit.Usagef("--set negative: applies to the unconditional canvas of guidance: add --guidance W")
	case o.negative != "" && o.all.Given("negative-tokens"):
		return exit.Usagef("--set negative and --set negative-tokens both fill the second canvas; use one")
	}
	err = o.all.Exclude([2]string{"dry-run", "shard"}, [2]string{"dry-run", "resume"}, [2]string{"dry-run", "record"}, [2]string{"dry-run", "audit"})
	if err := cmp.Or(err, o.show.check(o.all)); err != nil {
		return err
	}
	if err := o.chunks.Check(s, o.all, chunks.Use{Output: o.output, Seeded: o.sampler.Seed != nil, Whole: []string{"record", "trace", "watch"}}); err != nil {
		return err
	}
	if o.record == "" && o.format == "jsonl" && !o.chunks.Given() && !o.dryRun {
		o.record = Beside(o.output)
		o.beside = o.record != ""
	}
	return o.all.Apart("generate", nil)
}
