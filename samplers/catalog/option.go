package catalog

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// List returns the options of all samplers, bound to the fields of o, in the order of a cross
// product: options that decide which others are used come first, and those that vary fastest in a
// table come last. A sampler's options are its [samplers.Descriptor.Flags].
func (o *Options) List() []samplers.Option {
	kept := cache.Option
	kept.Field = &o.Cache
	out := slices.Concat(o.PlanOptions.List(),
		[]samplers.Option{{Field: &o.By, Name: "draw", Words: []string{"inverse", "gumbel"}, Default: "inverse, gumbel with lookahead", Help: "draw by `HOW`: inverse or gumbel", Flag: true, Calls: true}},
		unplanned(o.LayerOptions.List()), unplanned(o.RankOptions.List()), unscored(unplanned(o.RemaskOptions.List())), unplanned(o.CausalOptions.List()), unplanned([]samplers.Option{kept, {Field: &o.CacheCost, Name: "cache-cost", Default: fmt.Sprint(cache.Cost), Help: "accept a cost of `X` nats per token of the cache that auto chooses", Flag: true, Least: samplers.AboveZero, Most: math.MaxFloat64, Calls: true}}),
		[]samplers.Option{
			{Field: &o.Temperature, Name: "temperature", Default: "1", Help: "divide the logits by `X`; 0 takes the likeliest token", Flag: true, Most: math.MaxFloat64, Token: true},
			{Field: &o.TopK, Name: "top-k", Default: "all", Help: "draw from the `K` likeliest tokens", Flag: true, Least: 1, Most: math.MaxInt32, Whole: true, Token: true},
			{Field: &o.TopP, Name: "top-p", Default: "1", Help: "draw from the fewest tokens of total probability at least `P`", Flag: true, Least: samplers.AboveZero, Most: 1, Token: true},
			{Field: &o.SuppressTokens, Name: "suppress-tokens", Lists: true, Default: "none", Help: "never draw the ids of `LIST`; changes the distribution", Token: true},
			{Field: &o.Lookahead, Name: "lookahead", Default: "1", Help: "guess ahead, `K` canvases per call; the ids of draw=gumbel", Flag: true, Least: 1, Most: plan.MaxLookahead, Whole: true, Calls: true},
			{Field: &o.Steps, Name: "steps", Default: "128", Help: "take `N` steps or groups", Flag: true, Least: 1, Most: schedule.MaxSteps, Whole: true},
		})
	return out
}

// unplanned marks options of samplers without a plan, and unscored those under which no text has a
// known probability.
func unplanned(list []samplers.Option) []samplers.Option {
	for i := range list {
		list[i].Unplanned = true
	}
	return list
}

func unscored(list []samplers.Option) []samplers.Option {
	for i := range list {
		list[i].Unscored = true
	}
	return list
}

// AllOptions lists the options of all samplers, bound to options of their own.
func AllOptions() []samplers.Option { return new(Options).List() }

// Set parses text and sets the option of a name: see [samplers.Option.Set].
func (o *Options) Set(name, text string) error {
	for _, p := range o.List() {
		if p.Name == name {
			return p.Set(text)
		}
	}
	return fault.Errorf("samplers", "%s: no sampler has this option", name)
}

// Get returns the value of an option in the form that Set reads; "" if it is not given.
func (o Options) Get(name string) string {
	for _, p := range o.List() {
		if p.Name == name {
			return p.Get()
		}
	}
	return ""
}
