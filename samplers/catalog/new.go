package catalog

import (
	"cmp"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/causal"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/match"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// New checks the options and makes the sampler. The error joins those of all options that are
// invalid or unused.
func New(o Options, c samplers.Spec) (*Sampler, error) {
	if d, _ := Describe(o.Sampler); c.Causal && slices.Contains(d.Aliases, "ar") && !strings.EqualFold(o.Sampler, d.Name) {
		o.Sampler = causal.Causal.Name
	}
	s := &Sampler{given: o.given(c)}
	if err := o.inBlocks(c); err != nil {
		return nil, err
	}
	desc, err := o.check(c)
	if err != nil {
		return nil, err
	}
	set := &s.settings
	set.Options = o
	set.Sampler, set.Draw = desc.Name, o.Draw.Within(c.Tokens())
	set.ChangesLaw = set.Draw.ChangesLaw()
	if err := set.drawn(c); err != nil {
		return nil, err
	}
	if s.kernel, err = desc.make(set, samplers.Build{Steps: &set.Steps, Lookahead: set.Lookahead, Draw: set.Draw, Spec: c}); err != nil {
		return nil, err
	}
	set.Interactions = nil
	if err := s.layers(c); err != nil {
		return nil, err
	}
	return s, nil
}

// given lists the options that are set and have an effect on a network's tokens, with their values,
// except those that every [Sampler.String] has.
func (o Options) given(c samplers.Spec) (out []string) {
	o.Draw = o.Draw.Within(c.Tokens())
	for _, p := range o.List() {
		if text := p.Get(); text != "" && !slices.Contains([]string{"steps", "correlation", "tau", "grid", "sizes", "order", "draw"}, p.Name) {
			out = append(out, p.Name+" "+text)
		}
	}
	return out
}

// check returns an error for options that are invalid or unused.
func (o Options) check(c samplers.Spec) (desc Descriptor, err error) {
	unused, err := o.Unused()
	if err != nil {
		return desc, err
	}
	desc, _ = Describe(cmp.Or(o.Sampler, plan.FHS.Name))
	var idle []string
	var errs []error
	for _, p := range o.List() {
		text := p.Get()
		if text == "" {
			continue
		}
		if _, ok := unused[p.Name]; ok {
			idle = append(idle, p.Name)
		}
		errs = append(errs, p.Set(text))
	}
	if slices.Sort(idle); idle != nil {
		errs = append(errs, fault.Errorf("samplers", "%s does not use %s here: leave it out", desc.Name, strings.Join(idle, ", ")))
	}
	if err := fault.Join("samplers", errs...); err != nil {
		return desc, err
	}
	if err := o.together(c); err != nil {
		return desc, err
	}
	if o.Stop != nil && c.Columns > 0 && (*o.Stop >= c.Columns || *o.Stop == c.Mask) {
		return desc, fault.Errorf("samplers", "stop: id %d: must be a token in 0..%d and not the mask", *o.Stop, c.Columns-1)
	}
	if c.Columns > 0 {
		if _, err := draw.NewCategorical(c.Vocabulary, o.Draw); err != nil {
			return desc, err
		}
	}
	_, err = schedule.ParseNoise(c.Noise)
	return desc, err
}

// drawn sets the default of By. With look-ahead and drafts it is gumbel if rows leave the network.
func (s *Settings) drawn(c samplers.Spec) error {
	if s.By == "" {
		desc, _ := Describe(s.Sampler)
		if s.By = draw.ByInverse; !c.RowsStay && (s.Lookahead > 0 && desc.Kind != samplers.ByRank || desc.Kind == samplers.ByOrder) {
			s.By = draw.ByGumbel
		}
	}
	if s.By == draw.ByGumbel && c.RowsStay {
		return fault.Errorf("samplers", "draw %s: needs rows, which stay on this network's device: must be %s", s.By, draw.ByInverse)
	}
	return nil
}

// layers wraps the kernel in blocks, corrections, growth, kept keys and values, languages, and
// guidance and rules, in that order.
func (s *Sampler) layers(c samplers.Spec) error {
	set := &s.settings
	planned := samplers.Is[samplers.Planned](s.kernel.Law())
	stop, prompt := set.End(), set.Prompt()
	desc, _ := Describe(set.Sampler)
	if set.BlockLength > 0 && (desc.Kind == samplers.ByPlan || desc.Kind == samplers.ByRemasking) {
		s.kernel = layer.Blocks(s.kernel, set.BlockLength, prompt, stop)
	}
	if set.Correct != "" {
		corrected, err := layer.Correct(s.kernel, set.Correct)
		if err != nil {
			return err
		}
		s.kernel, set.Correct = corrected, corrected.String()
	}
	if set.MaxLength > 0 {
		s.kernel = layer.Grow(s.kernel, set.BlockLength, set.MaxLength, stop)
	}
	s.keep(planned, prompt, c)
	if set.Match != nil {
		s.kernel, set.ChangesLaw = match.Around(s.kernel, set.Match, set.Lookahead > 1 && planned || desc.Kind == samplers.ByOrder, desc.Kind == samplers.ByRank), true
	}
	around := &layer.Constraint{Kernel: s.kernel, Leaves: set.Finish == "leave" || set.Columns == "raw", MaxLength: set.MaxLength}
	var errs [3]error
	if set.guided() {
		g := &layer.Guidance{W: set.Guidance, ByPosition: set.Unconditional == "prompt", Prompt: prompt}
		g.Keep, errs[0] = draw.IDs("keep-tokens", set.KeepTokens, c.Columns)
		g.Negative, errs[1] = draw.IDs("negative-tokens", set.NegativeTokens, c.Columns)
		set.Unconditional = cmp.Or(set.Unconditional, "visible")
		around.Guidance = g
	}
	around.Rules, errs[2] = layer.NewRules(set.BadWordsIDs, set.MinLength, set.Stop, c.Columns)
	if around.Guidance != nil || around.Rules != nil {
		s.kernel, set.ChangesLaw = around, true
	}
	return fault.Join("samplers", errs[:]...)
}

// keep wraps the kernel in a cache: calls compute few positions and keep keys and values of the others.
// planned is that of the sampler without layers.
func (s *Sampler) keep(planned bool, prompt int, c samplers.Spec) {
	set := &s.settings
	how, _ := cache.Parse(set.Cache) // which check has parsed
	if set.Cache = how.String(); how.Kind == "" {
		return
	}
	how.Ahead, how.Audit, how.Planned = set.Lookahead > 1, set.Audit, planned
	if how.Kind == cache.Blocks {
		if how.Block = c.BlockSize; c.Causal {
			how.Block = 1
		}
		s.kernel = cache.Around(s.kernel, how)
		return
	}
	how.Causal, how.Block, how.Prompt, how.Planned = c.BlockSize, set.BlockLength, prompt, planned && set.Correct == ""
	s.kernel, set.ChangesLaw = cache.Around(s.kernel, how), true
}
