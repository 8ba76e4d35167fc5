package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/tokenize"
)

// maxSamples bounds -n, so that indices of samples of all lines stay whole numbers.
const maxSamples = 1 << 40

// formats are what --format takes.
var formats = []string{"text", "ids", "json", "jsonl"}

func generateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "generate",
		Usage: "sample text, or fill in what is missing in one",
		Description: "mdmgen generate\n" +
			"mdmgen generate --prefix \"Once upon a time\" --length 60 -n 3 --seed 7\n" +
			"mdmgen generate --infill 'The {{3}} king said: {{5}}.'\n" +
			"mdmgen generate --model mdlm-owt --tokenizer gpt2/tokenizer.json --sampler tweedie --steps 256\n" +
			"mdmgen generate --sampler euler --noise exp --grid paper --steps 64 --format json -o run.json\n\n" +
			"Without flags it samples one text of the built-in model by First-Hitting.\n\n" +
			"What is given and what is sampled: --prefix and --suffix leave masks between them; --infill is a text with\n" +
			"{{N}} for N masks, {{*}} for as many as --length leaves, {{\"text\"}} for a text that holds braces; --input reads\n" +
			"JSON lines {\"prefix\":…,\"suffix\":…,\"length\":…}, {\"infill\":TEXT or [\"text\",3,\"text\"]} or {\"ids\":[5,null,17]},\n" +
			"null being sampled. Text is always text: a prompt that spells a special token stays letters.\n\n" +
			"A sample depends on the model, the sampler's settings, the seed and its index; not on --batch or --threads.\n" +
			"`mdmgen samplers` tells which flags a sampler uses; one that it does not use is refused.",
		Flags:  slices.Concat(sampleFlags(), callFlags(), canvasFlags(), outputFlags(), modelFlags(), []cli.Flag{tokenizerFlag(), profileFlag()}),
		Action: func(c *cli.Context) error { return generate(c, s) },
	}
}

// canvasFlags say what is given and what is sampled.
func canvasFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "n", Value: 1, Category: catInput, Usage: "`N` samples, of each line of --input"},
		&cli.IntFlag{Name: "length", Category: catInput, DefaultText: "the model's", Usage: "`N` positions of the canvas"},
		&cli.StringFlag{Name: "prefix", Category: catInput, Usage: "`TEXT` that the samples begin with"},
		&cli.StringFlag{Name: "suffix", Category: catInput, Usage: "`TEXT` that the samples end with"},
		&cli.StringFlag{Name: "infill", Category: catInput, Usage: "`TEMPLATE` with {{N}} and {{*}} for what is sampled"},
		&cli.StringFlag{Name: "input", Category: catInput, Usage: "`FILE` of JSON lines, - for standard input"},
	}
}

func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "text", Category: catOutput, Usage: "`FORMAT` of the results: " + strings.Join(formats, ", ")},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: catOutput, Usage: "`FILE` to write (default: standard output); it appears whole or not at all"},
	}
}

// generation is one run of generate.
type generation struct {
	c       *cli.Context
	streams streams
	model   model.Model
	facts   facts.Facts
	// tokenizer is nil where there is none and none is needed.
	tokenizer *tokenize.Tokenizer
	jobs      []job
	settings  settings
	sampler   *samplers.Sampler
}

func generate(c *cli.Context, s streams) (err error) {
	if err := checkFlags(c); err != nil {
		return err
	}
	out, err := newResults(c, s.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	g := &generation{c: c, streams: s}
	if err := g.findTokenizer(); err != nil {
		return err
	}
	if g.model, err = openModel(c.Context, c, s); err != nil {
		return err
	}
	defer closing(g.model, &err)
	g.facts = g.model.Facts()
	noticeProfile(c, s, g.model)
	if err := g.prepare(); err != nil {
		return err
	}
	return g.run(out)
}

// checkFlags refuses what can be refused before anything is opened.
func checkFlags(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if f := c.String("format"); !slices.Contains(formats, f) {
		return usagef("--format %s: must be one of %s", f, strings.Join(formats, ", "))
	}
	if n := c.Int("n"); n < 1 || n > maxSamples {
		return usagef("-n %d: must be in 1..%d", n, maxSamples)
	}
	if c.IsSet("length") && (c.Int("length") < 1 || c.Int("length") > maxCanvas) {
		return usagef("--length %d: must be in 1..%d", c.Int("length"), maxCanvas)
	}
	if c.IsSet("batch") && (c.Int("batch") < 1 || c.Int("batch") > 1<<20) {
		return usagef("--batch %d: must be in 1..%d", c.Int("batch"), 1<<20)
	}
	both := func(a, b string) error { return usagef("--%s and --%s both say what is given; use one", a, b) }
	if err := exclude(c, [][2]string{{"input", "prefix"}, {"input", "suffix"}, {"input", "infill"}, {"infill", "prefix"}, {"infill", "suffix"}}, both); err != nil {
		return err
	}
	if c.IsSet("input") && c.String("input") == "" {
		return usagef("--input: name a file, or - for standard input")
	}
	return checkSamplerFlags(c)
}

// findTokenizer opens the tokenizer if text is printed, and tries to for a
// record; ids and worlds do without.
func (g *generation) findTokenizer() (err error) {
	format := g.c.String("format")
	if format == "ids" && !given(g.c, "tokenizer") {
		return nil
	}
	g.tokenizer, err = openTokenizer(g.c, g.streams)
	if format != "text" && errors.Is(err, errNoTokenizer) {
		return nil
	}
	return needTokenizer(err, "text output", ", or ask for --format ids")
}

// prepare lays out canvases and sampler once the model's facts are known.
func (g *generation) prepare() error {
	clean := g.facts.Columns - len(g.facts.Excluded())
	if t := g.tokenizer; t != nil && t.Size() < clean {
		return fmt.Errorf("the tokenizer has %d tokens, the model %d: they do not belong together", t.Size(), clean)
	}
	if err := g.layOut(); err != nil {
		return err
	}
	opts, err := samplerOptions(g.c)
	if err != nil {
		return err
	}
	g.sampler, err = samplers.New(opts, g.model.Spec())
	if err != nil {
		return usagef("generate: %s", bare(err))
	}
	if err := g.tryPlans(); err != nil {
		return err
	}
	seed := g.c.Uint64("seed")
	if !g.c.IsSet("seed") {
		// 53 bits, so that every reader of JSON reads the number that was used.
		seed = rand.Uint64() >> 11
	}
	g.settings = settings{
		Settings: g.sampler.Settings(), Renormalised: g.facts.Output == facts.LogScore && opts.Scores != samplers.ScoresRaw,
		N: g.c.Int("n"), Batch: g.batch(), Length: g.length(), Seed: seed, Head: g.sampler.Head(g.model), Device: deviceOf(g.c, g.facts),
		Prefix: g.c.String("prefix"), Suffix: g.c.String("suffix"), Infill: g.c.String("infill"), Input: g.c.String("input"), Profile: profileDigest(g.c), Facts: g.c.StringSlice("fact"), Sidecar: g.c.String("sidecar"),
	}
	if d, ok := g.model.(model.Describer); ok {
		g.settings.Threads = d.Origin().Threads
	}
	return nil
}

// length is the canvas's, or 0 where lines of --input have their own.
func (g *generation) length() int {
	if g.c.IsSet("input") {
		return g.c.Int("length")
	}
	return len(g.jobs[0].canvas)
}

// tryPlans draws a plan for each canvas, so that sizes or an order that do not
// fit one are refused before the first sample.
func (g *generation) tryPlans() error {
	if !g.sampler.Planned() {
		return nil
	}
	var plan samplers.Plan
	for _, j := range g.jobs {
		if err := g.sampler.Plan(&plan, samplers.NewStream(0, 0), g.free(j.canvas)); err != nil {
			if j.line > 0 {
				return usagef("generate: line %d of --input: %s", j.line, bare(err))
			}
			return usagef("generate: %s", bare(err))
		}
	}
	return nil
}

// bareError is an error whose message has no names of packages.
type bareError struct{ err error }

func (e *bareError) Error() string { return "generate: " + bare(e.err) }
func (e *bareError) Unwrap() error { return e.err }

// bare drops the package's name from a message that the command line shows.
func bare(err error) string {
	return strings.NewReplacer("samplers: ", "", "bench: ", "", "likelihood: ", "").Replace(err.Error())
}

// layOut makes the canvases.
func (g *generation) layOut() (err error) {
	c := g.c
	l := &layout{facts: g.facts, length: c.Int("length"), open: func() (encoder, error) {
		if g.tokenizer == nil {
			t, err := openTokenizer(c, g.streams)
			if err != nil {
				return nil, needTokenizer(err, "a text to begin from", "")
			}
			g.tokenizer = t
		}
		return g.tokenizer, nil
	}}
	if c.IsSet("input") {
		g.jobs, err = readJobs(c.Context, c.String("input"), g.streams.in, l)
		return err
	}
	var canvas []int
	if c.IsSet("infill") {
		var pieces []piece
		if pieces, err = parseInfill(c.String("infill")); err == nil {
			canvas, err = l.template(pieces, l.length)
		}
	} else {
		prefix, suffix := c.String("prefix"), c.String("suffix")
		canvas, err = l.between(&prefix, &suffix, l.length)
	}
	if err != nil {
		var coded *codedError
		if errors.As(err, &coded) {
			return err
		}
		return cmp.Or(c.Context.Err(), usagef("generate: %v", err))
	}
	g.jobs = []job{{0, canvas}}
	return nil
}

// batch is the number of sequences of a call: what --batch says, else few enough that
// the first samples come soon. Tables answer at once and take more.
func (g *generation) batch() int {
	if g.c.IsSet("batch") {
		return g.c.Int("batch")
	}
	most := 8
	if g.facts.Family == "world" {
		most = 256
	}
	return min(most, len(g.jobs)*g.c.Int("n"))
}
