package bound

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

const (
	// defaultWindows is the default number of windows of a text, and of samples of a law.
	defaultWindows = 64
	// defaultPlans is K for windows without exact values.
	defaultPlans = 16
	// defaultSteps are the default numbers of steps.
	defaultSteps = "1,2,4,8,16,64"
	// most is the maximum number of windows, draws and plans.
	most = 1 << 20
)

// options holds the flags.
type options struct {
	model     setup.Model
	sampler   setup.Sampler
	tokenizer setup.Tokenizer
	cut       texts.Cutting
	pages     kit.Pages
	chunks    chunks.Flags
	// path is the input, "" for standard input.
	path     string
	planOnly bool
	q0       string
	// draws and plans are 0 if none are given.
	draws, plans int
	confidence   float64
	// reference is KIND:WHAT.
	reference string
	// samplers and steps are lists; samplers is "" if none are given.
	samplers, steps string
	format, output  string
	wide            bool
	all             kit.Set
}

// caseFlags returns the flags that choose samplers. Which of them apply depends on the samplers.
// Options of token draws are not among them: tokens are drawn from the network's own distribution,
// unless a decoder in the list of samplers has another rule.
func caseFlags() []string {
	out := []string{"sampler"}
	for _, o := range catalog.AllOptions() {
		if !o.Token && !o.Calls && o.Name != cache.Option.Name { // its law is not computed
			out = append(out, o.Name)
		}
	}
	return out
}

// flags returns the flags of the command. It shares those of score and generate with the same
// meaning.
func (o *options) flags() kit.Set {
	o.confidence, o.steps = estimate.DefaultConfidence, defaultSteps
	cut := o.cut.Flags(strconv.Itoa(texts.ExactLength), strconv.Itoa(defaultWindows))
	o.all = slices.Concat(kit.Set{
		kit.Bool(&o.planOnly, kit.Flag{Name: "plan-only", Category: kit.CatEstimate, Usage: "print the collision bounds of samplers, without a network"}),
		kit.Words(&o.q0, []string{"chain", "causal"}, kit.Flag{Name: "q0", Category: kit.CatEstimate, Usage: "take `WHAT` as the data distribution: chain, the network's left-to-right chain; causal, the causal law of a network that has one"}),
		kit.Int(&o.draws, 1, most, kit.Flag{Name: "draws", Category: kit.CatEstimate, Default: strconv.Itoa(defaultWindows), Usage: "draw `N` samples of each law with --q0"}),
		kit.Int(&o.plans, 2, most, kit.Flag{Name: "plans", Category: kit.CatEstimate, Default: strconv.Itoa(defaultPlans), Usage: "replace exact values by bounds from `K` plans per window"}),
		kit.Confidence(&o.confidence, kit.CatEstimate, "compute intervals of probability `P`; verdicts have their own"),
		kit.Text(&o.reference, kit.Flag{Name: "reference", Category: kit.CatEstimate, Usage: "bound KL(q0‖P_FHS) and ε″ of a text from below by `KIND:WHAT`: causal:MODEL, an ONNX model of the same tokens; masked:MODEL, another network's First-Hitting"}),
	}, cut.Only("length", "limit"), kit.Set{
		kit.Text(&o.samplers, kit.Flag{Name: "sampler", Category: kit.CatSample, Default: strings.Join(o.compared(), ","), Words: catalog.Names(), Usage: "compare First-Hitting with a `LIST` of samplers, each optionally with settings, such as 'euler grid=paper'"}),
		kit.Text(&o.steps, kit.Flag{Name: "steps", Category: kit.CatSample, Usage: "take a `LIST` of numbers of steps"}),
	}, kit.Format(&o.format, "text", "json"), kit.Set{
		kit.Bool(&o.wide, kit.Flag{Name: "wide", Category: kit.CatOutput, Usage: "print the sides of all lines, and what they state"}),
		kit.OutputFlag(&o.output),
	}, o.pages.Flags(), o.chunks.Flags("windows of a text"), cut.Without("length", "limit", "cut-context"),
		slices.Concat(o.sampler.Flags(), o.sampler.CallFlags()).Only(append(caseFlags(), "seed", "batch")...).Without("sampler", "steps"),
		o.model.Flags(), kit.Set{o.tokenizer.Flag(), o.sampler.Profile.Flag()})
	return o.all.Common("q0", "reference", "length", "limit", "sampler", "steps", "seed", "format", "wide", "output", "html", "plots", "model", "tokenizer")
}

// world reports whether the input is a world.
func (o *options) world() bool { return strings.EqualFold(filepath.Ext(o.path), ".json") }

// check returns the errors that can be found before anything is opened.
func (o *options) check(_ context.Context, s kit.Streams, args []string) error {
	o.path = strings.Join(args, "") // one or none
	if err := o.checkMode(); err != nil {
		return err
	}
	return o.chunks.Check(s, o.all, chunks.Use{Output: o.output, Seeded: o.sampler.Seed != nil, Whole: []string{"html", "plots"}})
}

// checkMode returns an error for flags that have no meaning in the mode set by others.
func (o *options) checkMode() error {
	apart := [][2]string{{"plan-only", "q0"}, {"q0", "plans"}}
	if o.q0 == "causal" {
		apart = apart[:1]
	}
	if err := cmp.Or(o.checkReference(), o.all.Exclude(apart...)); err != nil {
		return err
	}
	mode, without := "", []string{"as", "join", "limit", "stride", "context", "frame", "tail", "tokenizer", "reference", "resume", "shard"}
	switch {
	case o.planOnly:
		mode, o.wide = "--plan-only", true // The bounds are all that there is.
		without = append(without, "draws", "plans", "confidence", "seed", "batch", "runtime", "device", "tf32", "threads", "offline", "model", "fact", "sidecar", "verify-digest")
	case o.q0 != "":
		mode = "--q0 " + o.q0
	case o.world():
		return o.all.Unused("for a world", o.all.Without(append(caseFlags(), "format", "json", "wide", "output", "html", "plots")...).Names()...)
	default:
		return o.all.Unused("without --q0", "draws")
	}
	if o.path != "" {
		return exit.Usagef("bound: %s reads no file, and %s is given", mode, o.path)
	}
	return o.all.Unused("with "+mode, without...)
}
