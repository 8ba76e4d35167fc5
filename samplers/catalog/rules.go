package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/schedule"
)

// rule is a row of the table of what does not go together.
type rule struct {
	// names are options, separated by blanks.
	names string
	// beside returns what they do not go with, as "grid uniform" or "without block-length", or "".
	beside func(x *asked) string
	// why is the reason why they are an error; "" if they only have no effect, so that giving one of
	// them is a mistake.
	why string
}

// asked is a request for a sampler.
type asked struct {
	*Options
	Descriptor
	spec samplers.Spec
	// grid, rule and sizes are those of a sampler that has them, parsed.
	grid  schedule.GridSpec
	rule  schedule.Rule
	sizes []int
	kept  cache.Settings
}

// uses reports whether the sampler has an option.
func (x *asked) uses(name string) bool { return slices.Contains(x.Flags, name) }

// unless returns beside, or "" if ok.
func unless(ok bool, beside string) string {
	if ok {
		return ""
	}
	return beside
}

// rules are the table. [Options.Unused] reads the rows without a reason, [New] all of them.
var rules = []rule{
	{names: "steps T delta", beside: func(x *asked) string { return unless(x.grid.List == nil, "grid "+x.Grid) }},
	{names: "kappa", beside: func(x *asked) string {
		return unless(!x.uses("grid") || x.grid.Kind == schedule.GridPaper, "grid "+cmp.Or(x.Grid, plan.DefaultGrid(x.rule)))
	}},
	{names: "steps", beside: func(x *asked) string {
		return unless(x.grid.Kind != schedule.GridPaper || x.Kappa == 0, fmt.Sprintf("kappa %v", x.Kappa))
	}},
	{names: "noise", beside: func(x *asked) string {
		return unless(!x.uses("grid") || !x.rule.Exact() || x.grid.Kind == schedule.GridUniform, "grid "+cmp.Or(x.Grid, plan.DefaultGrid(x.rule)))
	}},
	{names: "steps", beside: func(x *asked) string { return unless(x.sizes == nil, "sizes "+x.Sizes) }},
	{names: "reach max-length", beside: func(x *asked) string { return unless(x.BlockLength > 0, "without block-length") }},
	{names: "stop", beside: func(x *asked) string {
		return unless(x.BlockLength > 0 || x.MinLength > 0 || x.Kind == samplers.ByOrder, "without block-length")
	}},
	{names: "prompt-length", beside: func(x *asked) string {
		return unless(x.BlockLength > 0 || x.Unconditional == "prompt", "without block-length")
	}},
	{names: "unconditional keep-tokens negative-tokens", beside: func(x *asked) string { return unless(x.guided(), "without guidance") }},
	{names: "cache-cost", beside: func(x *asked) string { return unless(x.Cache == "auto", "without cache auto") }},
	// Corrections draw from the rows as they are.
	{names: "correct", beside: func(x *asked) string { return unless(x.Columns == "", "columns") }},
	{names: "correct", beside: func(x *asked) string { return unless(x.NucleusP == 0, "nucleus-p") }},
	{names: "steps", beside: func(x *asked) string { return unless(x.Name != "threshold" || x.Rule != "", "without rule") }},
	{names: "steps", beside: func(x *asked) string {
		return unless(x.Name != "llada2" || x.EditingThreshold == 0, "editing-threshold")
	}},
	{names: "post-steps", beside: func(x *asked) string { return unless(x.EditingThreshold > 0, "without editing-threshold") }},
	{names: "schedule transfer", beside: func(x *asked) string {
		return unless(x.Name != "confidence" || x.Rule == schedule.RoundDLLM, "rule "+string(cmp.Or(x.Rule, schedule.RoundLLaDA)))
	}},
	{names: "eps", beside: func(x *asked) string {
		return unless(x.Name != "confidence" || x.Rule == schedule.RoundDream, "rule "+string(cmp.Or(x.Rule, schedule.RoundLLaDA)))
	}},
	{names: "begin-suppress-tokens", beside: func(x *asked) string {
		return unless(x.Score == "" || x.Score == rank.ByConfidence, "score "+string(x.Score))
	}},
	{names: "alg-temp", beside: func(x *asked) string {
		return unless(x.Score != rank.ByRandom && x.Score != rank.ByLeftmost, "score "+string(x.Score))
	}},
	{names: "t-on t-off alpha-on", beside: func(x *asked) string {
		return unless(x.Remask == remask.RemaskLoop, "remask "+string(cmp.Or(x.Remask, remask.RemaskCap)))
	}},
	{names: "eta", beside: func(x *asked) string {
		how := cmp.Or(x.Remask, remask.RemaskCap)
		return unless(how == remask.RemaskLoop || how == remask.RemaskCap || how == remask.RemaskRescale, "remask "+string(how))
	}},
	{"block-length prompt-length max-length correct guidance", func(x *asked) string { return unless(x.Kind != samplers.ByOrder, "the sampler "+x.Name) }, "it has no blocks, and its rows follow no masks: leave it out"},
	{"prompt-length max-length", blockCausal, "blocks are filled from position 0 on: leave it out"},
	{"prompt-length", func(x *asked) string { return unless(!x.spec.Causal, "a network with causal rows") }, "blocks are filled from the first mask on: leave it out"},
	{"correct", func(x *asked) string { return unless(x.spec.BlockSize == 0, "a network that fills blocks") }, "what follows was drawn with what it changes: leave it out"},
	{"unconditional", func(x *asked) string { return unless(x.Unconditional != "prompt", blockCausal(x)) }, "blocks are filled from position 0 on: leave it out"},
	{"cache", func(x *asked) string {
		return unless(x.kept.Kind == "" || x.Name != remask.WINO.Name, "the sampler "+x.Name)
	}, "it also queries other canvases: choose another sampler"},
	{"cache", func(x *asked) string {
		return unless(x.kept.Kind == "" || x.Lookahead < 2 || x.Kind == samplers.ByPlan, "the sampler "+x.Name+" with lookahead")
	}, "it also queries other canvases: leave lookahead out"},
	{"cache", func(x *asked) string {
		blocks := x.kept.Kind == cache.Blocks
		return unless(x.kept.Kind == "" || x.spec.BlockSize == 0 && !blocks || blocks && x.spec.BlockSize > 0 || x.kept.Kind == cache.Dual && !x.spec.Causal && !x.guided() && x.Lookahead < 2, "a block-causal network")
	}, "it keeps finished blocks without it, exactly; smaller blocks need dual, without guidance and look-ahead: leave cache out"},
	{"cache", func(x *asked) string {
		return unless(x.kept.Kind == "" || x.kept.Kind == cache.Window || x.kept.Kind == cache.Blocks || x.BlockLength > 0, "without block-length")
	}, "it needs blocks: set block-length, or the cache window"},
	{"cache", func(x *asked) string {
		return unless(x.kept.Kind != cache.Window || x.BlockLength > 0 || x.Kind == samplers.ByPlan, "the sampler "+x.Name)
	}, "it queries all masked positions, so every row would be computed: set block-length"},
	{"match", func(x *asked) string {
		return unless(x.Name != remask.P2.Name && x.Name != remask.WINO.Name, "the sampler "+x.Name)
	}, "it does not draw from rows as they are"},
	{"match", func(x *asked) string { return unless(x.NucleusP == 0, "nucleus-p") }, "it has a draw of its own"},
	{"match", func(x *asked) string { return unless(x.Columns != "raw", "columns raw") }, "a mask is no text"},
	{"match", func(x *asked) string { return unless(x.Finish != "leave", "finish leave") }, "a mask is no text"},
	{"match", func(x *asked) string { return unless(x.EditingThreshold == 0, "editing-threshold") }, "it replaces tokens one by one"},
	{"match", func(x *asked) string { return unless(x.MaxLength == 0, "max-length") }, "the number of positions must be known"},
	{"match", func(x *asked) string {
		return unless(x.Stop == nil && x.BadWordsIDs == "" && x.MinLength == 0, "stop, banned words and a minimum length")
	}, "put them into the pattern"},
	{"match", func(x *asked) string { return unless(x.Audit == 0, "an audit") }, "it compares rows as they are"},
}

func blockCausal(x *asked) string {
	return unless(x.spec.Grid() == 0, "a block-causal network")
}

// asks parses a request as far as the rules need it.
func (o *Options) asks(c samplers.Spec) (x *asked, err error) {
	d, ok := Describe(cmp.Or(o.Sampler, plan.FHS.Name))
	if !ok {
		return nil, fault.Errorf("samplers", "sampler %q: must be one of %s", o.Sampler, strings.Join(Names(), ", "))
	}
	x = &asked{Options: o, Descriptor: d, spec: c, rule: schedule.Rule(d.Name)}
	if x.uses("grid") {
		if x.grid, err = schedule.ParseGrid(cmp.Or(o.Grid, plan.DefaultGrid(x.rule))); err != nil {
			return nil, err
		}
	}
	if x.uses("sizes") {
		if _, x.sizes, err = schedule.ParseSizes(o.Sizes); err != nil {
			return nil, err
		}
	}
	x.kept, _ = cache.Parse(o.Cache) // New returns its error
	return x, nil
}

// Unused returns the options that have no effect for the sampler with the other options as set, and
// the reason: kappa without the paper's grid ("grid uniform"), steps with a list, stop "without
// block-length", and so on. The reason is "" for options that the sampler never uses. It returns an
// error if the sampler, the grid or the sizes are unknown.
func (o Options) Unused() (map[string]string, error) {
	x, err := o.asks(samplers.Spec{})
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for _, r := range rules {
		if r.why != "" {
			continue
		}
		if beside := r.beside(x); beside != "" {
			for _, name := range strings.Fields(r.names) {
				out[name] = beside
			}
		}
	}
	for _, p := range o.List() {
		if !x.uses(p.Name) {
			out[p.Name] = ""
		}
	}
	return out, nil
}

// together returns an error for given options that do not go together.
func (o *Options) together(c samplers.Spec) error {
	x, err := o.asks(c)
	if err == nil {
		_, err = cache.Parse(o.Cache)
	}
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.why == "" {
			continue
		}
		beside := r.beside(x)
		for _, name := range strings.Fields(r.names) {
			if beside != "" && x.given(name) {
				switch {
				case name == "match":
					name = "a pattern"
				case name == "cache" && x.kept.Kind == cache.Blocks:
					name = "the cache of finished blocks of a block-causal network"
				case name == "cache":
					name += " " + x.Cache
				}
				if strings.HasPrefix(beside, "without ") {
					return fault.Errorf("samplers", "%s is of no use %s: %s", name, beside, r.why)
				}
				return fault.Errorf("samplers", "%s cannot be combined with %s: %s", name, beside, r.why)
			}
		}
	}
	return nil
}

// given reports whether an option, or a pattern, is given. A prompt of 0 positions counts as none.
func (x *asked) given(name string) bool {
	switch text := x.Get(name); name {
	case "match":
		return x.Match != nil
	case "prompt-length":
		return text != "" && text != "0"
	case "cache":
		return x.kept.Kind != ""
	default:
		return text != ""
	}
}
