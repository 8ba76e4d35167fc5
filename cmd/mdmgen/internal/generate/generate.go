// Package generate is the command that samples text.
package generate

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/match"
	"mdmgen/tokenize"
	"mdmgen/tokenize/chat"
)

// Command is the command generate.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "generate",
		Usage:     "sample texts, or fill in the gaps of a text",
		Arguments: "[TEXT]",
		Description: "mdmgen generate \"Once upon a time\" --length 60 -n 3 --seed 7\n" +
			"mdmgen generate --model kuleshov-group/mdlm-owt --sampler remdm --steps 64 --set eta=0.1 --json\n\n" +
			"Without flags it samples one text by First-Hitting, one position per call; --calls N makes N calls.\n\n" +
			"--prefix and --suffix leave a gap between them. --infill is a text with gaps: {{N}} is N masks, {{*}} as many as\n" +
			"--length leaves, {{NAME:N}} a gap with a name, and {{\"text\"}} a text that contains braces. --input reads JSON\n" +
			"lines: {\"prefix\":…,\"suffix\":…,\"length\":…}, {\"infill\":TEXT or [\"text\",3,\"text\"]}, {\"ids\":[5,null,17]} with null\n" +
			"for masks, or {\"messages\":[{\"role\":\"user\",\"content\":TEXT}],\"length\":…}; \"n\", \"seed\", \"sampler\" and every sampler\n" +
			"setting (\"temperature\", \"top_p\" …) take the place of the flags. --chat is one message of a user. Messages become\n" +
			"a prompt by the model's chat template; only the answer is printed, which --prefix, --suffix or --infill shapes.\n" +
			"Given text is plain text: a prompt that spells a special token stays letters.\n" +
			"TEXT is a --prefix, or a template if it has {{; - is standard input.\n\n" +
			"A sample depends on the model, the sampler's settings, the seed and its index, not on --batch or --threads.\n" +
			"`mdmgen samplers NAME` lists the flags and settings of a sampler; others are errors.",
		Flags: o.flags(),
		Check: o.check, Run: o.run,
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
	// texts opens the tokenizer and the chat template when they are needed.
	texts *requests.Words
	// builder makes the jobs. If lines are answered as they come, jobs holds the last ones.
	builder *requests.Builder
	jobs    []job
	// next is the number of samples of all jobs so far.
	next     int
	settings requests.Settings
	store    *samplers.Store
	// blankTold reports whether it was told that a blank moved.
	blankTold bool
	// recorded is the file of the record, nil for none.
	recorded *kit.Output
	// watched follows every call, nil if nothing does.
	watched *observer
}

func (o *options) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	g := &generation{options: o, ctx: ctx, streams: s, store: setup.Store(o.keep)}
	g.texts = requests.OpenWords(g.encoder)
	if o.record != "" {
		if g.recorded, err = kit.NewOutput(ctx, "--record", o.record, s); err != nil {
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
		if _, err := g.texts.Prompt(chat.Asked{Messages: g.asked().Messages, Kwargs: g.kwargs}); err != nil {
			return g.wrong(0, err)
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
		return g.predict()
	}
	end, err := g.observe()
	if err != nil {
		return err
	}
	defer end(&err)
	if g.converses() {
		return g.interact()
	}
	return g.sample()
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
	layout := requests.Layout{Facts: g.facts, Words: g.texts, Length: g.Length, Block: opts.BlockLength, MaxLength: opts.MaxLength, KeepBlank: true}
	if err := g.encodeOptions(layout, &opts); err != nil {
		return err
	}
	all, gaps := []lined{{Request: g.asked()}}, map[string]requests.Gap(nil)
	switch {
	case g.converses():
		all = nil
	case g.input != "":
		if all, err = g.readLines(); err != nil {
			return err
		}
	case g.infill != "":
		c, err := layout.Canvas(all[0].Request)
		if err != nil {
			return g.wrong(0, err)
		}
		if !slices.Contains(c.Tokens, g.facts.MaskID) {
			return exit.Usagef("--infill: nothing is left to sample: write {{N}} for N masks, or {{*}} for the rest")
		}
		gaps = c.Gaps
	}
	if err := g.readPatterns(gaps); err != nil {
		return err
	}
	if g.chat != "" {
		if opts, err = requests.Decoder(g.facts, g.texts, opts); err != nil {
			return g.wrong(0, err)
		}
	}
	opts.Audit = g.audit
	g.builder, err = requests.New(g.ctx, requests.Config{Network: g.network, Words: g.texts, Length: g.Length, N: g.n, KeepBlank: g.keepBlank, Calls: g.sampler.Solved, Options: opts, Patterns: g.patterns, Gaps: gaps,
		Fit: func(ctx context.Context, o *catalog.Options, canvas []int) error {
			return g.sampler.Fit(ctx, g.streams, g.network, o, canvas)
		}})
	if err != nil {
		return g.wrong(0, err)
	}
	if err := g.take(all); err != nil {
		return err
	}
	s := g.builder.Record
	s.N, s.Batch, s.Length, s.Seed, s.Device = g.n, g.batch(), g.Total, setup.SeedOr(g.sampler.Seed), g.model.DeviceOf(g.facts)
	if g.input == "" {
		s.Settings, g.jobs[0].Own = g.jobs[0].Sampler.Settings(), false
		s.Length = len(g.jobs[0].Inside(g.jobs[0].Tokens))
	}
	s.Prefix, s.Suffix, s.Infill, s.Chat, s.Input = g.prefix, g.suffix, g.infill, g.chat, g.input
	s.ChatTemplateKwargs, s.Negative, s.BadWords, s.ChatTemplate = g.kwargs, g.negative, g.badWords, g.texts.Template()
	if g.patterns != nil || slices.ContainsFunc(g.jobs, func(j job) bool { return j.Patterns != nil }) {
		s.MatchLaw = match.Law
	}
	s.Profile, s.Groups, s.Audit, s.Facts, s.Sidecar = g.sampler.Profile.Digest(), g.grouping(g.builder.Options), g.audit, g.model.Facts, g.model.Sidecar
	g.settings = s
	return nil
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

// batch returns the number of sequences per call.
func (g *generation) batch() int {
	n := setup.BatchOf(g.facts)
	if !g.converses() {
		n = min(n, g.next)
	}
	return cmp.Or(g.sampler.Batch, n)
}
