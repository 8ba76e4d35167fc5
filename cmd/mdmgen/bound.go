package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/tokenize"
)

const (
	// boundWindows is the number of windows of a text, and of samples of a law, where none
	// is given.
	boundWindows = 64
	// boundDraws is the number of samples of the normalisation, which take few rows.
	boundDraws = 128
	// boundPlans is K for windows that are too long for exact values.
	boundPlans = 16
	// boundSteps are the numbers of steps where none are given.
	boundSteps = "1,2,4,8,16,64"
)

// boundSamplers are those with a collision bound and an exact law.
var boundSamplers = []string{"euler", "tweedie", "tau-leaping", "parallel-fhs", "fhs"}

func boundCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "bound",
		Usage:     "put both sides of the paper's bounds beside each other",
		ArgsUsage: "[FILE]",
		Description: "FILE, or standard input, is a text as for score: by window the exact −log P of the first-hitting sampler\n" +
			"and the exact NELBO, whose mean gap is ε″ − KL(q0‖P_FHS), and what the samplers cost beside it by number of\n" +
			"steps. With --q0 chain nothing is read: the network's own left-to-right chain is taken for the data's law, and\n" +
			"samples give both sides of KL(q0‖P_FHS) ≤ ε″ and the distances of the samplers' laws. --plan-only tells what\n" +
			"is known of samplers without a network. Windows of more than 16 positions, and all with --plans, get a lower\n" +
			"bound on the gap by K plans. A line that has a verdict says what the numbers show; exits with 3 when one is\n" +
			"violated. Values are in nats.",
		Flags:  boundFlags(),
		Action: func(c *cli.Context) error { return boundAction(c, s) },
	}
}

// boundFlags are score's and generate's where they mean the same.
func boundFlags() []cli.Flag {
	own := []cli.Flag{
		&cli.BoolFlag{Name: "plan-only", Category: catEstimate, Usage: "tell the collision bounds of samplers, without a network"},
		&cli.StringFlag{Name: "q0", Category: catEstimate, Usage: "`LAW` that is taken for the data's: chain, the network's left-to-right chain"},
		&cli.IntFlag{Name: "draws", Category: catEstimate, DefaultText: fmt.Sprintf("%d; %d with --q0", boundDraws, boundWindows), Usage: "`N` samples for the normalisation, or of each law with --q0"},
		&cli.IntFlag{Name: "plans", Category: catEstimate, DefaultText: strconv.Itoa(boundPlans), Usage: "bound by `K` plans a window in place of exact values"},
		&cli.Float64Flag{Name: "confidence", Value: estimate.DefaultConfidence, Category: catEstimate, Usage: "probability `P` of the intervals; verdicts have their own"},
		&cli.IntFlag{Name: "length", Category: catInput, DefaultText: strconv.Itoa(exactLength), Usage: "`N` tokens of a window"},
		&cli.IntFlag{Name: "windows", Category: catInput, DefaultText: strconv.Itoa(boundWindows), Usage: "the first `N` windows"},
		&cli.StringFlag{Name: "sampler", Value: "euler,tweedie", Category: catSample, Usage: "`LIST` of samplers beside first-hitting: " + strings.Join(boundSamplers, ", ")},
		&cli.StringFlag{Name: "steps", Value: boundSteps, Category: catSample, Usage: "`LIST` of numbers of steps"},
		&cli.BoolFlag{Name: "json", Category: catOutput, Usage: "print the report as JSON"},
	}
	pick := func(flags []cli.Flag, names ...string) []cli.Flag {
		return slices.DeleteFunc(flags, func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
	}
	return slices.Concat(own, pick(textFlags(), "as", "join", "stride", "context", "frame", "tail"),
		pick(sampleFlags(), "grid", "noise", "T", "delta", "tau", "finish", "seed", "batch"), modelFlags(), []cli.Flag{tokenizerFlag()})
}

// boundSettings are all that the numbers depend on besides model and text.
type boundSettings struct {
	Samplers []samplers.Settings `json:"samplers"`
	Length   int                 `json:"length"`
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
	// Text is "sha256:…" of the windows' ids.
	Text string `json:"text,omitempty"`
}

// bounding is one run of bound.
type bounding struct {
	c        *cli.Context
	streams  streams
	settings boundSettings
	cases    []bound.Case
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
	for flag, values := range map[string][]string{"frame": {"none", "bos-eos"}, "tail": {"keep", "drop"}, "as": inputKinds, "q0": {"chain"}} {
		if v := c.String(flag); c.IsSet(flag) && !slices.Contains(values, v) {
			return usagef("--%s %s: must be one of %s", flag, v, strings.Join(values, ", "))
		}
	}
	for _, pair := range [][2]string{{"plan-only", "q0"}, {"q0", "plans"}, {"draws", "plans"}} {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			return usagef("--%s and --%s do not go together", pair[0], pair[1])
		}
	}
	mode, without := "", []string{"as", "join", "windows", "stride", "context", "frame", "tail", "tokenizer"}
	switch {
	case c.Bool("plan-only"):
		mode, without = "--plan-only", append(without, "draws", "plans", "confidence", "seed", "batch")
		for _, f := range modelFlags() {
			without = append(without, f.Names()[0])
		}
	case c.IsSet("q0"):
		mode = "--q0"
	default:
		return nil
	}
	if c.NArg() > 0 {
		return usagef("bound: %s reads no file, and %s is given", mode, c.Args().First())
	}
	for _, flag := range without {
		if given(c, flag) {
			return usagef("--%s: has no meaning with %s", flag, mode)
		}
	}
	return nil
}

// boundCases reads --sampler and --steps. A flag goes to those samplers that use it, and
// must go to one.
func boundCases(c *cli.Context, cond samplers.Conditions) ([]bound.Case, error) {
	var steps []int
	for _, item := range strings.Split(c.String("steps"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < 1 || n > 1<<20 {
			return nil, usagef("--steps: %.40q is not a whole number in 1..%d", item, 1<<20)
		}
		if slices.Contains(steps, n) {
			return nil, usagef("--steps: %d stands there twice", n)
		}
		steps = append(steps, n)
	}
	slices.Sort(steps)
	var out []bound.Case
	used := make(map[string]bool)
	for _, name := range strings.Split(c.String("sampler"), ",") {
		name = strings.TrimSpace(name)
		d, ok := samplers.Describe(name)
		if !ok || !slices.Contains(boundSamplers, d.Name) {
			return nil, usagef("--sampler %.40q: must be of %s", name, strings.Join(boundSamplers, ", "))
		}
		uses, err := samplers.Options{Sampler: d.Name, Grid: c.String("grid")}.Uses()
		if err != nil {
			return nil, usagef("bound: %s", bare(err))
		}
		has := func(flag string) bool {
			used[flag] = used[flag] || slices.Contains(uses, flag)
			return c.IsSet(flag) && slices.Contains(uses, flag)
		}
		o := samplers.Options{Sampler: d.Name}
		for flag, field := range map[string]*string{"grid": &o.Grid, "noise": &o.Noise, "tau": &o.Tau, "finish": &o.Finish} {
			if has(flag) {
				*field = c.String(flag)
			}
		}
		for flag, field := range map[string]**float64{"T": &o.T, "delta": &o.Delta} {
			if has(flag) {
				x := c.Float64(flag)
				*field = &x
			}
		}
		list := []int{0}
		if slices.Contains(uses, "steps") {
			list, used["steps"] = steps, true
		}
		for _, n := range list {
			o.Steps = n
			s, err := samplers.New(o, cond)
			if err != nil {
				return nil, usagef("bound: %s", bare(err))
			}
			if slices.ContainsFunc(out, func(b bound.Case) bool { return b.Name == d.Name && b.N == n }) {
				return nil, usagef("--sampler: %s stands there twice", d.Name)
			}
			out = append(out, bound.Case{Name: d.Name, N: n, Sampler: s})
		}
	}
	for _, flag := range []string{"grid", "noise", "T", "delta", "tau", "finish", "steps"} {
		if c.IsSet(flag) && !used[flag] {
			return nil, usagef("--%s: no sampler of %s uses it", flag, c.String("sampler"))
		}
	}
	return out, nil
}

// prepare reads the sampler's flags once the network is known, or without one.
func (r *bounding) prepare(cond samplers.Conditions) (err error) {
	if r.cases, err = boundCases(r.c, cond); err != nil {
		return err
	}
	for _, k := range r.cases {
		r.settings.Samplers = append(r.settings.Samplers, k.Sampler.Settings())
	}
	return nil
}

func boundAction(c *cli.Context, s streams) (err error) {
	if err := checkBoundFlags(c); err != nil {
		return err
	}
	r := &bounding{c: c, streams: s, settings: boundSettings{Length: cmp.Or(c.Int("length"), exactLength)}}
	if c.Bool("plan-only") {
		if err := r.prepare(samplers.Conditions{}); err != nil {
			return err
		}
		report, err := bound.Plan(r.settings.Length, r.cases)
		if err != nil {
			return err
		}
		return r.finish(report, newProvenance(nil, nil))
	}
	if _, err := boundCases(c, samplers.Conditions{}); err != nil {
		return err // Before the model is opened; what its noise changes is found out below.
	}
	m, err := openModel(c.Context, c, s)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := m.Close(); err == nil {
			err = cerr
		}
	}()
	f := m.Facts()
	if err := r.prepare(samplers.Conditions{Noise: f.Noise, TimeConditioned: f.TimeConditioned, InfiniteSigma: samplers.AcceptsInfiniteSigma(m)}); err != nil {
		return err
	}
	e, err := likelihood.New(m, likelihood.Options{Batch: c.Int("batch")})
	if err != nil {
		return err
	}
	return r.network(m, e)
}

// network runs the modes that have a network.
func (r *bounding) network(m model.Model, e *likelihood.Evaluator) error {
	c, set := r.c, &r.settings
	seed := c.Uint64("seed")
	if !c.IsSet("seed") {
		seed = rand.Uint64() >> 11
	}
	set.Seed, set.Confidence, set.Batch = &seed, c.Float64("confidence"), c.Int("batch")
	cfg := bound.Config{Cases: r.cases, Draws: cmp.Or(c.Int("draws"), boundDraws), Seed: seed, Confidence: set.Confidence}
	if c.IsSet("q0") {
		target, err := r.canvas(m.Facts())
		if err != nil {
			return err
		}
		cfg.Draws = cmp.Or(c.Int("draws"), boundWindows)
		set.Draws = cfg.Draws
		return r.run(m, nil, 2*cfg.Draws, cfg, func(cfg bound.Config) (bound.Report, error) {
			return bound.Chain(c.Context, m, e, target, cfg)
		})
	}
	in := &scoring{c: c, streams: r.streams, model: m, facts: m.Facts(), evaluator: e, short: true, most: cmp.Or(c.Int("windows"), boundWindows)}
	if err := in.findTokenizer(); err != nil {
		return err
	}
	in.settings.As = in.inputKind()
	if err := in.prepareWindows(); err != nil {
		return err
	}
	set.As, set.Join, set.Context, set.Frame, set.Tail = in.settings.As, c.Bool("join"), c.Int("context"), c.String("frame"), c.String("tail")
	set.Length, set.Stride, set.Windows, set.Text = in.settings.Length, in.settings.Stride, len(in.windows), textDigest(in.windows)
	var targets []likelihood.Target
	var cluster []int
	long := c.IsSet("plans")
	for _, w := range in.windows {
		targets = append(targets, w.Target)
		if in.overlaps {
			cluster = append(cluster, w.document)
		}
		long = long || len(w.Free) > likelihood.MaxFree
	}
	work, total := r.exactly(m, e, targets, cluster), len(targets)+cfg.Draws
	if long {
		if c.IsSet("draws") {
			return usagef("--draws: windows of more than %d positions have no exact values, and no normalisation", likelihood.MaxFree)
		}
		cfg.Draws, cfg.Plans, total = 0, cmp.Or(c.Int("plans"), boundPlans), len(targets)
		set.Samplers = nil
		work = func(cfg bound.Config) (bound.Report, error) {
			return bound.Long(c.Context, e, targets, cluster, cfg)
		}
	}
	set.Draws, set.Plans = cfg.Draws, cfg.Plans
	return r.run(m, in.tokenizer, total, cfg, work)
}

func (r *bounding) exactly(m model.Model, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int) func(bound.Config) (bound.Report, error) {
	return func(cfg bound.Config) (bound.Report, error) {
		return bound.Text(r.c.Context, m, e, ts, cluster, cfg)
	}
}

// canvas is what --q0 samples: all of it, but where the network predicts a position from
// the one before it.
func (r *bounding) canvas(f facts.Facts) (likelihood.Target, error) {
	n := r.settings.Length
	switch {
	case f.FixedLength && r.c.IsSet("length") && n != f.Length:
		return likelihood.Target{}, usagef("--length %d: the model takes canvases of exactly %d positions", n, f.Length)
	case f.FixedLength:
		n = f.Length
	case n > f.Length:
		return likelihood.Target{}, usagef("--length %d: the model takes canvases of at most %d positions", n, f.Length)
	}
	if n > likelihood.MaxFree {
		return likelihood.Target{}, usagef("--length %d: exact values take 2^%d network rows a sample, and more than 2^%d are not taken", n, n, likelihood.MaxFree)
	}
	if f.Shift {
		return likelihood.Target{}, usagef("--q0 chain: the network predicts position l from row l−1, and has no row for the first")
	}
	r.settings.Length = n
	return likelihood.Whole(make([]int, n)), nil
}

// run works with a progress line and prints.
func (r *bounding) run(m model.Model, t *tokenize.Tokenizer, total int, cfg bound.Config, work func(bound.Config) (bound.Report, error)) error {
	if !r.c.IsSet("seed") {
		r.streams.notice(fmt.Sprintf("seed %d", cfg.Seed))
	}
	bar := newBar(r.streams.err, total, true, "working out", "windows")
	cfg.Done = bar.add
	report, err := work(cfg)
	bar.clear()
	if err != nil {
		if cerr := context.Cause(r.c.Context); cerr != nil {
			return cerr
		}
		return fmt.Errorf("bound: %s", strings.NewReplacer("likelihood: ", "", "bound: ", "").Replace(bare(err)))
	}
	return r.finish(report, newProvenance(m, t))
}
