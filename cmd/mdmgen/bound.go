package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/samplers"
)

const (
	// boundWindows is the number of windows of a text, and of samples of a law, where none
	// is given.
	boundWindows = 64
	// boundTimedLength is the length of a window of a time-conditioned network where none is
	// given: exact values take 2^d rows at each of about a hundred times.
	boundTimedLength = 6
	// boundPlans is K for windows that are too long for exact values.
	boundPlans = 16
	// boundSteps are the numbers of steps where none are given.
	boundSteps = "1,2,4,8,16,64"
)

// caseFlags choose the samplers; whether one has a meaning depends on which they are.
// Draws of tokens are the network's own.
func caseFlags() []string {
	out := []string{"sampler"}
	for _, o := range samplers.AllOptions() {
		if !o.Token && !o.Calls {
			out = append(out, o.Name)
		}
	}
	return out
}

func boundCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "bound",
		Usage:     "put both sides of the paper's bounds beside each other",
		ArgsUsage: "[FILE]",
		Description: "FILE is a world, a .json file with q0 and μ, of which every statement of the paper is worked out exactly,\n" +
			"for the samplers and grids that flags name, or else for a choice of them;\n" +
			"else FILE, or standard input, is a text as for score: by window the exact −log P of the first-hitting sampler\n" +
			"and the exact NELBO, whose mean gap is ε″ − KL(q0‖P_FHS), and what the samplers cost beside it by number of\n" +
			"steps; with --reference KL(q0‖P_FHS) and ε″ each from below, by any law that was not made from this text. With\n" +
			"--q0 chain nothing is read: the network's own left-to-right chain is taken for the data's law, and\n" +
			"samples give both sides of KL(q0‖P_FHS) ≤ ε″ and the distances of the samplers' laws; with --q0 own the entropy\n" +
			"of first-hitting's own samples is enclosed from both sides, at any length. --plan-only tells what is known of\n" +
			"samplers without a network. Windows of more than 16 positions, and all with --plans, get a lower bound on the\n" +
			"gap by K plans, and every sampler a bound on −log P. A line that has a verdict says what the numbers show;\n" +
			"exits with 3 when one is violated. Values are in nats.",
		Flags:  boundFlags(),
		Action: func(c *cli.Context) error { return boundAction(c, s) },
	}
}

// boundFlags are score's and generate's where they mean the same.
func boundFlags() []cli.Flag {
	own := []cli.Flag{
		&cli.BoolFlag{Name: "plan-only", Category: catEstimate, Usage: "tell the collision bounds of samplers, without a network"},
		&cli.StringFlag{Name: "q0", Category: catEstimate, Usage: "`LAW` that is taken for the data's: chain, the network's left-to-right chain; or own, to enclose the entropy of first-hitting's own samples"},
		&cli.IntFlag{Name: "draws", Category: catEstimate, DefaultText: fmt.Sprintf("16 to 128 by their rows; %d with --q0", boundWindows), Usage: "`N` samples for the normalisation, or of each law with --q0"},
		&cli.IntFlag{Name: "plans", Category: catEstimate, DefaultText: strconv.Itoa(boundPlans), Usage: "bound by `K` plans a window in place of exact values"},
		&cli.Float64Flag{Name: "confidence", Value: estimate.DefaultConfidence, Category: catEstimate, Usage: "probability `P` of the intervals; verdicts have their own"},
		&cli.IntFlag{Name: "length", Category: catInput, DefaultText: fmt.Sprintf("%d; %d for a time-conditioned network", exactLength, boundTimedLength), Usage: "`N` tokens of a window"},
		&cli.IntFlag{Name: "windows", Category: catInput, DefaultText: strconv.Itoa(boundWindows), Usage: "the first `N` windows"},
		&cli.StringFlag{Name: "sampler", Value: "euler,tweedie", Category: catSample, Usage: "`LIST` of samplers beside first-hitting: " + strings.Join(samplers.Names(), ", ")},
		&cli.StringFlag{Name: "steps", Value: boundSteps, Category: catSample, Usage: "`LIST` of numbers of steps"},
		&cli.BoolFlag{Name: "json", Category: catOutput, Usage: "print the report as JSON"},
		&cli.StringFlag{Name: "html", Category: catOutput, Usage: "write the report with its pictures to `FILE`, a page that needs nothing else"},
		&cli.StringFlag{Name: "plots", Category: catOutput, Usage: "write the pictures to the folder `DIR`, each as .svg and .png"},
	}
	pick := func(flags []cli.Flag, names ...string) []cli.Flag {
		return slices.DeleteFunc(flags, func(f cli.Flag) bool {
			name := f.Names()[0]
			return !slices.Contains(names, name) || slices.ContainsFunc(own, func(f cli.Flag) bool { return f.Names()[0] == name })
		})
	}
	return slices.Concat(own, referenceFlags(), pick(textFlags(), "as", "join", "stride", "context", "frame", "tail"),
		pick(sampleFlags(), append(caseFlags(), "seed", "batch")...), modelFlags(), []cli.Flag{tokenizerFlag(), profileFlag()})
}

// boundSettings are all that the numbers depend on besides model and text.
type boundSettings struct {
	Samplers []samplers.Settings `json:"samplers,omitempty"`
	Length   int                 `json:"length,omitempty"`
	Windows  int                 `json:"windows,omitempty"`
	Draws    int                 `json:"draws,omitempty"`
	Plans    int                 `json:"plans,omitempty"`
	Seed     *uint64             `json:"seed,omitempty"`
	// Confidence is that of intervals.
	Confidence float64 `json:"confidence,omitempty"`
	As         string  `json:"as,omitempty"`
	Join       bool    `json:"join,omitempty"`
	Stride     int     `json:"stride,omitempty"`
	Context    int     `json:"context,omitempty"`
	Frame      string  `json:"frame,omitempty"`
	Tail       string  `json:"tail,omitempty"`
	Batch      int     `json:"batch,omitempty"`
	// Text is "sha256:…" of the windows' ids, Profile that of the file of a grid's loss
	// profile.
	Text    string `json:"text,omitempty"`
	Profile string `json:"profile,omitempty"`
	// Reference is --reference, NGramOrder the order of its runs, ReferenceDigest that of the
	// training text's ids or of the model.
	Reference       string `json:"reference,omitempty"`
	NGramOrder      int    `json:"ngram_order,omitempty"`
	ReferenceDigest string `json:"reference_digest,omitempty"`
}

// bounding is one run of bound.
type bounding struct {
	c        *cli.Context
	streams  streams
	settings boundSettings
	cases    []bound.Case
	pages    pages
}

// checkBoundFlags refuses what can be refused before anything is opened.
func checkBoundFlags(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("bound: unexpected argument %q; name one file", c.Args().Get(1))
	}
	for _, flag := range []string{"length", "windows", "stride", "draws", "plans", "batch"} {
		least := 1
		if flag == "plans" {
			least = 2
		}
		if n := c.Int(flag); c.IsSet(flag) && (n < least || n > 1<<20) {
			return usagef("--%s %d: must be in %d..%d", flag, n, least, 1<<20)
		}
	}
	if n := c.Int("context"); n < 0 || n > 1<<20 {
		return usagef("--context %d: must be in 0..%d", n, 1<<20)
	}
	if p := c.Float64("confidence"); !(p > 0 && p < 1) {
		return usagef("--confidence %v: must be between 0 and 1", p)
	}
	for flag, values := range inOrder(map[string][]string{"frame": {"none", "bos-eos"}, "tail": {"keep", "drop"}, "as": inputKinds, "q0": {"chain", "own"}}) {
		if v := c.String(flag); c.IsSet(flag) && !slices.Contains(values, v) {
			return usagef("--%s %s: must be one of %s", flag, v, strings.Join(values, ", "))
		}
	}
	if err := checkReference(c); err != nil {
		return err
	}
	if c.String("q0") != "own" {
		if err := exclude(c, [][2]string{{"plan-only", "q0"}, {"q0", "plans"}, {"draws", "plans"}}, apartFlags); err != nil {
			return err
		}
	}
	mode, chosen, without := "", "q0", []string{"as", "join", "windows", "stride", "context", "frame", "tail", "tokenizer", "reference", "ngram-order"}
	switch {
	case c.Bool("plan-only"):
		mode, chosen, without = "--plan-only", "plan-only", append(without, "draws", "plans", "confidence", "seed", "batch")
		for _, f := range modelFlags() {
			without = append(without, f.Names()[0])
		}
	case c.String("q0") == "own":
		mode, without = "--q0 own", append(without, caseFlags()...)
	case c.IsSet("q0"):
		mode = "--q0 chain"
	case boundWorld(c):
		for _, f := range boundFlags() {
			if name := f.Names()[0]; !slices.Contains([]string{"json", "html", "plots"}, name) && !slices.Contains(caseFlags(), name) && c.IsSet(name) {
				if err := leaveOut(c, usagef("bound: --%s: has no meaning for a world", name), name); err != nil {
					return err
				}
			}
		}
		return nil
	default:
		return nil
	}
	if c.NArg() > 0 {
		if err := leaveOut(c, usagef("bound: %s reads no file, and %s is given", mode, c.Args().First()), chosen); err != nil {
			return err
		}
		return checkBoundFlags(c)
	}
	for _, flag := range without {
		if c.IsSet(flag) {
			if err := leaveOut(c, usagef("--%s: has no meaning with %s", flag, mode), flag); err != nil {
				return err
			}
		}
	}
	return nil
}

// boundWorld says whether the file is a world.
func boundWorld(c *cli.Context) bool {
	return c.NArg() == 1 && strings.EqualFold(filepath.Ext(c.Args().First()), ".json")
}

// prepare reads the sampler's flags once the network is known, or without one.
func (r *bounding) prepare(cond samplers.Spec) (err error) {
	if r.cases, err = boundCases(r.c, cond); err != nil {
		return err
	}
	r.settings.Profile = profileDigest(r.c)
	for _, k := range r.cases {
		r.settings.Samplers = append(r.settings.Samplers, k.Sampler.Settings())
	}
	return nil
}

// bounded refuses samplers whose law no collision bound compares with first-hitting's.
func bounded(mode string, cases []bound.Case) error {
	for _, k := range cases {
		if !k.Bounded() {
			return usagef("--sampler %s: no collision bound compares it with first-hitting, which %s needs", k.Name, mode)
		}
	}
	return nil
}

func boundAction(c *cli.Context, s streams) (err error) {
	if err := checkBoundFlags(c); err != nil {
		return err
	}
	r := &bounding{c: c, streams: s, settings: boundSettings{Length: cmp.Or(c.Int("length"), exactLength)}}
	defer r.pages.close()
	if err := r.pages.open(r.c, r.streams); err != nil {
		return err
	}
	if c.Bool("plan-only") {
		if err := r.prepare(samplers.Spec{}); err != nil {
			return err
		}
		if err := bounded("--plan-only", r.cases); err != nil {
			return err
		}
		return r.work(nil, nil, func() (bound.Report, error) { return bound.Plan(c.Context, r.settings.Length, r.cases) })
	}
	if boundWorld(c) {
		return r.world(c.Args().First())
	}
	cases, err := boundCases(c, samplers.Spec{LogScores: true})
	if err != nil {
		return err // Before the model is opened; what its noise changes is found out below.
	}
	if c.String("q0") == "chain" {
		if err := bounded("--q0 chain", cases); err != nil {
			return err
		}
	}
	m, err := openModel(c.Context, c, s)
	if err != nil {
		return err
	}
	defer closing(m, &err)
	noticeProfile(c, s, m)
	if err := r.prepare(m.Spec()); err != nil {
		return err
	}
	e, err := likelihood.New(m, likelihood.Options{Batch: c.Int("batch")})
	if err != nil {
		return err
	}
	return r.network(m, e)
}
