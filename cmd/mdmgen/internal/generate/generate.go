// Package generate is the command that samples text.
package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
	"mdmgen/tokenize/chat"

	"github.com/urfave/cli/v2"
)

// Command is the command generate.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:  "generate",
		Usage: "sample texts, or fill in the gaps of a text",
		Description: "mdmgen generate --prefix \"Once upon a time\" --length 60 -n 3 --seed 7\n" +
			"mdmgen generate --model kuleshov-group/mdlm-owt --sampler remdm --steps 64 --set eta=0.1 --json\n\n" +
			"Without flags it samples one text by First-Hitting, one position per call; --calls N makes N calls.\n\n" +
			"--prefix and --suffix leave masks between them. --infill is a text in which {{N}} is N masks, {{*}} as many as\n" +
			"--length leaves, {{NAME:N}} a gap with a name, and {{\"text\"}} a text that contains braces. --input reads JSON\n" +
			"lines: {\"prefix\":…,\"suffix\":…,\"length\":…}, {\"infill\":TEXT or [\"text\",3,\"text\"]}, {\"ids\":[5,null,17]} with null\n" +
			"for masks, or {\"messages\":[{\"role\":\"user\",\"content\":TEXT}],\"length\":…}. --chat is one message of a user.\n" +
			"Messages become a prompt by the model's chat template; the answer is sampled after it and printed alone. Given\n" +
			"text is plain text: a prompt that spells a special token stays letters. Only --input - reads standard input; --prefix \"$(cat)\" takes a text from it. A line may also have \"n\", \"seed\",\n" +
			"\"sampler\" and every sampler setting (\"temperature\", \"top_p\" …) in place of the flags; a line with its own seed\n" +
			"gives the samples of a run with that --seed.\n\n" +
			"A sample depends on the model, the sampler's settings, the seed and its index, not on --batch or --threads.\n" +
			"`mdmgen samplers NAME` lists the flags and settings of a sampler; others are errors.",
		Flags: o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error {
			if err := o.check(ctx, s, args); err != nil {
				return err
			}
			return generate(ctx, s, o)
		}),
	}
}

// generation is one run of generate.
type generation struct {
	*options
	ctx     context.Context
	streams kit.Streams
	network model.Model
	facts   facts.Facts
	// words is nil if there is no tokenizer and none is needed.
	words *tokenize.Tokenizer
	// template is nil until messages are read.
	template *chat.Template
	// layout makes the canvases of jobs. If lines are answered as they come, jobs holds the last
	// ones.
	layout *canvas.Layout
	jobs   []job
	// next is the number of samples of all jobs so far.
	next     int
	base     catalog.Options
	settings settings
	// method is the flags' sampler.
	method *catalog.Sampler
	// recorded is the file of the record, nil for none.
	recorded *kit.Output
	// watched follows every call, nil if nothing does.
	watched *observer
}

func generate(ctx context.Context, s kit.Streams, o *options) (err error) {
	out, err := o.chunks.Results(ctx, o.output, s)
	if err != nil {
		return err
	}
	defer out.Discard()
	g := &generation{options: o, ctx: ctx, streams: s}
	if o.record != "" {
		if g.recorded, err = kit.NewOutput(ctx, "--record", o.record, s.Out); err != nil {
			return err
		}
		defer g.recorded.Discard()
	}
	words := sync.OnceValue(g.findTokenizer)
	if o.model.Ref == setup.BuiltinName && !o.tokenizer.Given() && o.chat == "" && !s.Detailed() {
		go words() // This cannot fail: read it while the network is opened.
	} else if err := words(); err != nil {
		return err
	}
	if o.chat != "" { // Report a template's error before a network is opened.
		if _, err := g.prompt(asked(o.chat)); err != nil {
			return err
		}
	}
	if g.network, err = o.model.Open(ctx, s, o.all); err != nil {
		return err
	}
	defer kit.Closing(g.network, &err)
	if err := words(); err != nil {
		return err
	}
	g.facts = g.network.Facts()
	if err := g.prepare(); err != nil {
		return err
	}
	if o.dryRun {
		return g.predict(out)
	}
	end, err := g.observe()
	if err != nil {
		return err
	}
	defer end(&err)
	if g.converses() {
		return g.interact(out)
	}
	return g.run(out)
}

// findTokenizer opens the tokenizer if text is printed, and tries to for a
// record and a dry run; ids and worlds need none.
func (g *generation) findTokenizer() (err error) {
	if g.format == "ids" && !g.tokenizer.Given() && g.show.trace == "" {
		return nil
	}
	g.words, err = g.tokenizer.Open(g.ctx, g.streams, &g.model)
	if (g.format != "text" || g.dryRun) && setup.Lacks(err) {
		return nil
	}
	return setup.NeedTokenizer(err, "text output", ", or ask for --format ids")
}

// prepare makes the canvases and the sampler once the model's facts are known.
func (g *generation) prepare() error {
	if err := setup.Fit(g.words, g.facts); err != nil {
		return err
	}
	opts, err := g.sampler.Options(g.ctx, g.all)
	if err != nil {
		return err
	}
	layout := &canvas.Layout{Facts: g.facts, Length: g.Length, Block: opts.BlockLength, MaxLength: opts.MaxLength, Chat: g.prompt, Open: func() (canvas.Encoder, error) { return g.encoder() }}
	var jobs []canvas.Job
	if !g.converses() {
		if jobs, err = g.layOut(layout); err != nil {
			return err
		}
	}
	if err := g.encodeOptions(layout, &opts); err != nil {
		return err
	}
	opts.Audit = g.audit
	if opts, err = g.restrict(jobs, opts); err != nil {
		return err
	}
	g.layout, g.base = layout, opts
	if opts.Cache == "auto" {
		opts.Cache = setup.Auto(g.ctx, g.network)
		g.base.Cache = opts.Cache
		g.noticeAuto()
	}
	g.method, err = catalog.New(opts, g.network.Spec())
	if err != nil {
		return exit.Usagef("generate: %s", fault.Plain(err))
	}
	if err := g.take(jobs); err != nil {
		return err
	}
	length := g.Total
	if g.input == "" {
		length = len(g.jobs[0].Canvas)
	}
	g.settings = settings{
		Settings: g.method.Settings(), Renormalised: g.facts.Output == facts.LogScore,
		N: g.n, Batch: g.batch(), Length: length, Seed: setup.SeedOr(g.sampler.Seed), Head: g.method.Head(g.network), Device: g.model.DeviceOf(g.facts), Threads: setup.ThreadsOf(g.network),
		Prefix: g.prefix, Suffix: g.suffix, Infill: g.infill, Negative: g.negative, BadWords: g.badWords, Match: g.patterns, MatchLaw: g.matchLaw(), Chat: g.chat, ChatTemplate: g.templateDigest(), Input: g.input, Profile: g.sampler.Profile.Digest(), Groups: g.grouping(opts), Audit: g.audit, Facts: g.model.Facts, Sidecar: g.model.Sidecar,
	}
	return nil
}

// fits checks a job's canvas before the first sample: that sizes, an order or a negative prompt fit
// it, and that it has the first token if the network has no row for that.
func (g *generation) fits(j job) error {
	if g.facts.Shift && j.Canvas[0] == g.facts.MaskID {
		return errors.New("this network predicts position l from row l−1, and so needs the first token: give it with --prefix, or as an id in a line of --input")
	}
	err := j.method.Check(g.network.Spec(), j.Canvas)
	switch most := j.method.Settings().MaxLength; {
	case j.method.Settings().Cache != "" && err == nil:
		err = cache.Check(g.network)
	case most > 0 && g.facts.FixedLength:
		err = fmt.Errorf("max-length %d: the model takes canvases of exactly %d positions, which cannot grow: leave it out", most, g.facts.Length)
	case most > g.facts.Length:
		err = fmt.Errorf("max-length %d: the model takes canvases of at most %d positions", most, g.facts.Length)
	}
	return err
}

// encoder returns the tokenizer, opening it if it is not open yet.
func (g *generation) encoder() (*tokenize.Tokenizer, error) {
	if g.words == nil {
		t, err := g.tokenizer.Open(g.ctx, g.streams, &g.model)
		if err != nil {
			return nil, setup.NeedTokenizer(err, "a text", "")
		}
		g.words = t
	}
	return g.words, nil
}

// layOut makes the canvases.
func (g *generation) layOut(l *canvas.Layout) (jobs []canvas.Job, err error) {
	if g.input != "" {
		return canvas.ReadJobs(g.ctx, g.input, g.streams.In, l)
	}
	var ids []int
	prompt := 0
	switch {
	case g.chat != "":
		ids, prompt, err = l.Answer(asked(g.chat), g.Total)
	case g.infill != "":
		ids, err = l.Infill(g.infill, g.Total)
	default:
		ids, err = l.Between(&g.prefix, &g.suffix, g.Total)
	}
	if err != nil {
		if exit.Coded(err) {
			return nil, err
		}
		return nil, cmp.Or(g.ctx.Err(), exit.Usagef("generate: %v", err))
	}
	if g.infill != "" && !slices.Contains(ids, g.facts.MaskID) {
		return nil, exit.Usagef("--infill: nothing is left to sample: write {{N}} for N masks, or {{*}} for the rest")
	}
	return []canvas.Job{{Canvas: ids, Prompt: prompt, Gaps: l.Gaps}}, nil
}

// batch returns the number of sequences per call.
func (g *generation) batch() int {
	n := setup.BatchOf(g.facts)
	if !g.converses() {
		n = min(n, g.next)
	}
	return cmp.Or(g.sampler.Batch, n)
}
