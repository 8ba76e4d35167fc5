package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// catEstimate is the category of flags that say what is worked out.
const catEstimate = "What is worked out"

// scoreFormats are what score's --format takes, inputKinds what --as takes.
var (
	scoreFormats = []string{"table", "json", "jsonl"}
	inputKinds   = []string{"corpus", "lines", "jsonl"}
)

// exactLength is the length of windows with --exact where none is given: 2^10 rows.
const exactLength = 10

func scoreCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "score",
		Usage:     "how likely a text is: NELBO, K-plan bounds, exact −log P of a sampler",
		ArgsUsage: "[FILE]",
		Description: "FILE, or standard input, is a text that is cut into windows (--as corpus), one text a line (lines), or\n" +
			"JSON lines {\"text\":…} or {\"ids\":[…]}, with what is given and not scored as {\"context\":TEXT or IDS} (jsonl; the\n" +
			"default for names that end so). Values are in nats; a perplexity is a bound wherever the nats are one.\n\n" +
			"Without more it estimates the NELBO, an upper bound on −log P of the first-hitting sampler; --estimator\n" +
			"and --protocol choose other forms. --estimator plans bounds −log P of any planned sampler, the more\n" +
			"closely the more --plans; --exact works it out, for windows with up to 16 free positions, or 14 where a fill\n" +
			"looks back (trapezoidal and paired-fhs) and whole rows of all 2^d canvases must fit in 1 GiB.\n" +
			"A window's numbers depend on the model, the settings, the seed and its index; with --resume FILE a run\n" +
			"that was ended goes on where it was, to the same bits.\n\n" +
			"--profile keeps the NELBO's terms by number of visible tokens, which come free with --estimator k, orders and\n" +
			"--exact: the loss profile by which `mdmgen schedule` chooses sizes and grids. With --draws as many as a window\n" +
			"has tokens every window has each count once, and differences of schedules are the surest.",
		Flags:  slices.Concat(textFlags(), estimateFlags(), sampleFlags(), scoreOutputFlags(), modelFlags(), []cli.Flag{tokenizerFlag(), scoreProfileFlag()}),
		Action: func(c *cli.Context) error { return score(c, s) },
	}
}

// textFlags say how a text becomes windows.
func textFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Category: catInput, DefaultText: "by the file's name", Usage: "`KIND` of input: " + strings.Join(inputKinds, ", ")},
		&cli.BoolFlag{Name: "join", Category: catInput, Usage: "join the texts, the token of a text's end after each, and cut them as one"},
		&cli.IntFlag{Name: "length", Category: catInput, DefaultText: fmt.Sprintf("the model's; %d with --exact", exactLength), Usage: "`N` tokens of a window"},
		&cli.IntFlag{Name: "stride", Category: catInput, DefaultText: "every token once", Usage: "`N` tokens from one window to the next"},
		&cli.IntFlag{Name: "context", Category: catInput, Usage: "`N` tokens at the beginning of a window that are given, not scored"},
		&cli.StringFlag{Name: "frame", Value: "none", Category: catInput, Usage: "`FRAME` around each window: none or bos-eos, which are scored"},
		&cli.StringFlag{Name: "tail", Value: "keep", Category: catInput, Usage: "keep or drop a last window that is shorter, `HOW`"},
		&cli.IntFlag{Name: "limit", Category: catInput, DefaultText: "all", Usage: "the first `N` windows"},
	}
}

// estimateFlags say what is worked out for a window.
func estimateFlags() []cli.Flag {
	list := func(forms []likelihood.Form) string {
		var out []string
		for _, f := range forms {
			out = append(out, string(f))
		}
		return strings.Join(out, ", ")
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "estimator", Value: string(likelihood.Subsets), Category: catEstimate, Usage: "`FORM` of the estimate: " + list(likelihood.Forms())},
		&cli.StringFlag{Name: "protocol", Category: catEstimate, Usage: "repeat the estimate of a public `PROJECT`: " + list(likelihood.Protocols())},
		&cli.IntFlag{Name: "draws", Category: catEstimate, DefaultText: "16, or the protocol's", Usage: "`N` draws a window"},
		&cli.IntFlag{Name: "plans", Category: catEstimate, DefaultText: "1", Usage: "`K` plans a draw, with --estimator plans"},
		&cli.BoolFlag{Name: "exact", Category: catEstimate, Usage: "work out −log P of the sampler exactly, from 2^d rows for d free positions"},
		&cli.Float64Flag{Name: "confidence", Value: estimate.DefaultConfidence, Category: catEstimate, Usage: "probability `P` of the intervals"},
	}
}

func scoreOutputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "table", Category: catOutput, Usage: "`FORMAT` of the results: " + strings.Join(scoreFormats, ", ")},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: catOutput, Usage: "`FILE` to write (default: standard output); it appears whole or not at all"},
		&cli.StringFlag{Name: "resume", Category: catOutput, Usage: "`FILE` that keeps finished windows; with one that exists, go on where it ends"},
	}
}

// checkScoreFlags refuses what can be refused before anything is opened.
func checkScoreFlags(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("score: unexpected argument %q; name one file", c.Args().Get(1))
	}
	for flag, values := range inOrder(map[string][]string{"format": scoreFormats, "frame": {"none", "bos-eos"}, "tail": {"keep", "drop"}}) {
		if v := c.String(flag); !slices.Contains(values, v) {
			return usagef("--%s %s: must be one of %s", flag, v, strings.Join(values, ", "))
		}
	}
	if v := c.String("as"); c.IsSet("as") && !slices.Contains(inputKinds, v) {
		return usagef("--as %s: must be one of %s", v, strings.Join(inputKinds, ", "))
	}
	for _, flag := range []string{"length", "stride", "limit", "draws", "plans", "batch"} {
		if n := c.Int(flag); c.IsSet(flag) && (n < 1 || n > 1<<20) {
			return usagef("--%s %d: must be in 1..%d", flag, n, 1<<20)
		}
	}
	if n := c.Int("context"); n < 0 || n > 1<<20 {
		return usagef("--context %d: must be in 0..%d", n, 1<<20)
	}
	if p := c.Float64("confidence"); !(p > 0 && p < 1) {
		return usagef("--confidence %v: must be between 0 and 1", p)
	}
	if err := exclude(c, [][2]string{{"estimator", "protocol"}, {"exact", "estimator"}, {"exact", "protocol"}, {"exact", "draws"}, {"exact", "plans"}}, apartFlags); err != nil {
		return err
	}
	flag, form := "estimator", c.String("estimator")
	forms := likelihood.Forms()
	if c.IsSet("protocol") {
		flag, form, forms = "protocol", c.String("protocol"), likelihood.Protocols()
	}
	if !slices.Contains(forms, likelihood.Form(form)) {
		return usagef("--%s %.40q: must be one of %s", flag, form, strings.ReplaceAll(strings.Trim(fmt.Sprint(forms), "[]"), " ", ", "))
	}
	if err := apart(c, scoreFiles(c)...); err != nil {
		return err
	}
	if err := checkScoreProfile(c, form); err != nil {
		return err
	}
	planned := form == string(likelihood.Plans)
	if c.IsSet("plans") && !planned {
		if err := leaveOut(c, usagef("--plans: needs --estimator plans"), "plans"); err != nil {
			return err
		}
	}
	return checkScoreSampler(c, planned || c.Bool("exact"))
}

// scoreFiles are the files that score writes.
func scoreFiles(c *cli.Context) []namedFile {
	files := []namedFile{{"--resume", c.String("resume")}, {"-o", c.String("output")}}
	if writesProfile(c) {
		files = append(files, namedFile{"--profile", c.String("profile")})
	}
	return files
}

// checkScoreSampler checks the sampler's flags, which need a use.
func checkScoreSampler(c *cli.Context, used bool) error {
	for _, f := range sampleFlags() {
		name := f.Names()[0]
		var fault error
		o, ok := f.(*optionFlag)
		switch draws := name == "seed" || name == "batch" || ok && o.option.Token; {
		case !c.IsSet(name):
		case name == "seed" && c.Bool("exact"):
			fault = usagef("--seed: nothing is drawn with --exact")
		case !used && !draws:
			fault = usagef("--%s: chooses a sampler; it needs --exact or --estimator plans", name)
		}
		if fault != nil {
			if err := leaveOut(c, fault, name); err != nil {
				return err
			}
		}
	}
	return checkSamplerFlags(c)
}

// score opens what the flags name and runs.
func score(c *cli.Context, s streams) (err error) {
	if err := checkScoreFlags(c); err != nil {
		return err
	}
	out, err := newResults(c, s.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	r := &scoring{c: c, streams: s, out: out, short: c.Bool("exact"), most: c.Int("limit")}
	if r.model, err = openModel(c.Context, c, s); err != nil {
		return err
	}
	defer closing(r.model, &err)
	r.facts = r.model.Facts()
	noticeProfile(c, s, r.model)
	if err := r.prepare(); err != nil {
		return err
	}
	return r.run()
}

// scoring is one run of score.
type scoring struct {
	c       *cli.Context
	streams streams
	out     *output
	model   model.Model
	facts   model.Facts
	// tokenizer is nil where there is none and none is needed.
	tokenizer *tokenize.Tokenizer
	windows   []textWindow
	overlaps  bool
	// short says that windows are those of exact values where no length is given.
	short bool
	// shortLength is their length, 0 for exactLength.
	shortLength int
	// most is how many windows there are at most, 0 for all.
	most      int
	evaluator *likelihood.Evaluator
	config    likelihood.Config
	settings  scoreSettings
}

// findTokenizer opens the tokenizer; without one ids can be scored, but not counted in
// bytes.
func (r *scoring) findTokenizer() (err error) {
	r.tokenizer, err = openTokenizer(r.c, r.streams)
	if errors.Is(err, errNoTokenizer) {
		return nil
	}
	return err
}
