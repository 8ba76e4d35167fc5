package catalog

import (
	"slices"
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/causal"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/spread"
)

// Descriptor describes a sampler and makes it.
type Descriptor struct {
	samplers.Descriptor
	// make makes the kernel, and fills in the defaults of the options in effect.
	make func(s *Settings, b samplers.Build) (samplers.Kernel, error)
}

// layerFlags lists the options of all samplers: those of draws and of layers.
var layerFlags = []string{"draw", "temperature", "top-k", "top-p", "suppress-tokens", "block-length", "prompt-length", "stop", "correct",
	"guidance", "unconditional", "keep-tokens", "negative-tokens", "bad-words-ids", "min-length", "max-length", "cache", "cache-cost"}

// descriptors lists all samplers, the default first.
var descriptors = withLayers([]Descriptor{
	planned(plan.FHS),
	planned(plan.Euler),
	planned(plan.Tweedie),
	planned(plan.TauLeaping),
	planned(plan.ParallelFHS),
	planned(plan.Uniformization),
	planned(plan.MATU),
	planned(plan.DMPM),
	planned(plan.RandomSizes),
	planned(plan.Ordered),
	planned(spread.DUS),
	{spread.Spread, func(s *Settings, b samplers.Build) (samplers.Kernel, error) {
		return spread.NewSpread(s.Interactions, b)
	}},
	ranked(rank.Confidence),
	ranked(rank.Threshold),
	ranked(rank.Factor),
	ranked(rank.LocalLeap),
	ranked(rank.EntropyBounded),
	ranked(rank.LLaDA2),
	ranked(rank.KLASS),
	remasked(remask.ReMDM),
	remasked(remask.P2),
	{remask.WINO, func(s *Settings, _ samplers.Build) (samplers.Kernel, error) {
		s.ChangesLaw = true
		return remask.NewWINO(&s.Threshold, &s.ThresholdBack), nil
	}},
	{causal.Causal, func(s *Settings, b samplers.Build) (samplers.Kernel, error) {
		return causal.New(CausalOptions{Window: 1}, s.End(), b.Spec)
	}},
	{causal.Speculate, func(s *Settings, b samplers.Build) (samplers.Kernel, error) {
		return causal.New(s.CausalOptions, s.End(), b.Spec)
	}},
})

func withLayers(all []Descriptor) []Descriptor {
	for i := range all {
		all[i].Flags = slices.Concat(all[i].Flags, layerFlags)
	}
	return all
}

func planned(d plan.Sampler) Descriptor {
	return Descriptor{d.Descriptor, func(s *Settings, b samplers.Build) (samplers.Kernel, error) { return d.New(&s.PlanOptions, b) }}
}

func ranked(d rank.Decoder) Descriptor {
	return Descriptor{d.Descriptor, func(s *Settings, b samplers.Build) (samplers.Kernel, error) {
		s.OutsideKept = b.Spec.BlockSize == 0 && (s.Cache == string(cache.Dual) || s.Cache == string(cache.Prefix))
		k, changes, err := d.New(&s.RankOptions, s.LayerOptions, b)
		s.ChangesLaw = s.ChangesLaw || changes
		return k, err
	}}
}

func remasked(d remask.Sampler) Descriptor {
	return Descriptor{d.Descriptor, func(s *Settings, b samplers.Build) (samplers.Kernel, error) {
		k, changes, err := d.New(&s.RemaskOptions, b)
		s.ChangesLaw = s.ChangesLaw || changes
		return k, err
	}}
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

// Users returns the names of the samplers that have an option.
func Users(option string) (names []string) {
	for _, d := range descriptors {
		if slices.Contains(d.Flags, option) {
			names = append(names, d.Name)
		}
	}
	return names
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
