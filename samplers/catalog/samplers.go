package catalog

import (
	"slices"
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/spread"
)

// Descriptor describes a sampler and makes it.
type Descriptor struct {
	samplers.Descriptor
	// make makes the kernel, and fills in the defaults of the options in effect.
	make func(s *Settings, c samplers.Spec) (samplers.Kernel, error)
}

// layerFlags lists the options of all samplers: those of draws and of layers.
var layerFlags = []string{"draw", "temperature", "top-k", "top-p", "suppress-tokens", "block-length", "prompt-length", "stop", "correct",
	"guidance", "unconditional", "keep-tokens", "negative-tokens", "bad-words-ids", "min-length", "max-length", "cache"}

// descriptors lists all samplers, the default first.
var descriptors = withLayers([]Descriptor{
	{plan.FHS, firstHitting},
	{plan.Euler, onGrid},
	{plan.Tweedie, onGrid},
	{plan.TauLeaping, onGrid},
	{plan.ParallelFHS, inGroups},
	{plan.Uniformization, onGrid},
	{plan.MATU, onGrid},
	{plan.DMPM, onGrid},
	{plan.RandomSizes, ofRandomSizes},
	{plan.Ordered, ordered},
	{spread.Apart, apart},
	{spread.Dilated, dilated},
	{spread.DUS, func(*Settings, samplers.Spec) (samplers.Kernel, error) { return spread.NewDUS(), nil }},
	{spread.Bisection, bisection},
	{spread.Spread, spreadOut},
	ranked(rank.Confidence),
	ranked(rank.Threshold),
	ranked(rank.Factor),
	ranked(rank.LocalLeap),
	ranked(rank.EntropyBounded),
	ranked(rank.LLaDA2),
	ranked(rank.KLASS),
	{remask.ReMDM, remasked},
	{remask.P2, pathPlanned},
	{remask.WINO, drafted},
})

func withLayers(all []Descriptor) []Descriptor {
	for i := range all {
		all[i].Flags = slices.Concat(all[i].Flags, layerFlags)
	}
	return all
}

func firstHitting(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	return plan.NewFHS(s.Lookahead), nil
}

func ordered(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	return plan.NewOrdered(&s.Order, s.Lookahead)
}

func onGrid(s *Settings, c samplers.Spec) (samplers.Kernel, error) {
	o := plan.GridOptions{
		Grid: s.Grid, Steps: s.Steps, Kappa: s.Kappa, Noise: s.Noise, T: (*float64)(s.T), Delta: (*float64)(s.Delta), Profile: s.Profile,
		Tau: s.Tau, Lookahead: s.Lookahead, Finish: s.Finish,
	}
	k, err := plan.NewGrid(s.Sampler, &o, c)
	s.Grid, s.Steps, s.Kappa, s.Noise, s.T, s.Delta = o.Grid, o.Steps, o.Kappa, o.Noise, (*Theta)(o.T), (*Theta)(o.Delta)
	s.Tau, s.Finish = o.Tau, o.Finish
	return k, err
}

func inGroups(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	o := plan.GroupOptions{Sizes: s.Sizes, Steps: s.Steps, Profile: s.Profile}
	k, err := plan.NewGroups(&o)
	s.Sizes, s.Steps = o.Sizes, o.Steps
	return k, err
}

func ofRandomSizes(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	return plan.NewRandomSizes(&s.Steps, &s.Correlation), nil
}

func apart(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	return spread.NewApart(&s.Steps, &s.Distance), nil
}

func dilated(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	return spread.NewDilated(&s.Steps), nil
}

func bisection(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	o := plan.GroupOptions{Sizes: s.Sizes, Steps: s.Steps, Profile: s.Profile}
	k, err := spread.NewBisection(&o)
	s.Sizes, s.Steps = o.Sizes, o.Steps
	return k, err
}

func spreadOut(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	return spread.NewSpread(&s.Steps, s.Interactions)
}

func ranked(d rank.Decoder) Descriptor {
	return Descriptor{d.Descriptor, func(s *Settings, c samplers.Spec) (samplers.Kernel, error) {
		s.Ahead, s.OutsideKept = s.Lookahead, c.BlockSize == 0 && (s.Cache == string(cache.Dual) || s.Cache == string(cache.Prefix))
		k, changes, err := d.New(&s.RankOptions, &s.Steps, s.Draw, c)
		s.ChangesLaw = s.ChangesLaw || changes
		return k, err
	}}
}

func remasked(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	s.ChangesLaw = s.ChangesLaw || s.NucleusP > 0 && s.NucleusP < 1
	return remask.NewReMDM(&s.RemaskOptions, &s.Steps)
}

func pathPlanned(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	s.ChangesLaw = true
	return remask.NewP2(&s.RemaskOptions, &s.Steps), nil
}

func drafted(s *Settings, _ samplers.Spec) (samplers.Kernel, error) {
	s.ChangesLaw = true
	return remask.NewWINO(&s.Threshold, &s.ThresholdBack), nil
}

// Descriptors lists the samplers, the default first.
func Descriptors() []Descriptor { return slices.Clone(descriptors) }

// Names lists the samplers' names, the default first.
func Names() []string {
	var out []string
	for _, d := range descriptors {
		out = append(out, d.Name)
	}
	return out
}

// Describe returns the descriptor of a sampler by its name or an alias.
func Describe(name string) (Descriptor, bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, d := range descriptors {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return Descriptor{}, false
}
