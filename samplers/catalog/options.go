package catalog

import (
	"mdmgen/samplers/causal"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/match"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/spread"
)

// The options of the parts of a sampler.
type (
	PlanOptions   = plan.Options   // of samplers with plans
	RankOptions   = rank.Options   // of those that look at rows
	RemaskOptions = remask.Options // of those that mask again
	CausalOptions = causal.Options // of those that draw from causal rows
	LayerOptions  = layer.Options  // of layers around any sampler
	Draw          = draw.Settings  // of draws
	// Theta is a value of −log α.
	Theta = plan.Theta
)

// Options selects a sampler. The zero value is fhs. An option that the sampler does not use must
// have its zero value, or [New] returns an error. In JSON the fields have the names of
// [AllOptions], with _ in place of -.
type Options struct {
	// Sampler is a name or alias known to [Describe]; "" is fhs.
	Sampler string `json:"sampler"`
	PlanOptions
	// Steps is N; 0 is [samplers.DefaultSteps].
	Steps int `json:"steps,omitempty"`
	// Lookahead is K for fhs, ordered, uniformization, matu and dmpm, and for decoders that rank at
	// temperature 0: the reveals of the next K calls are guessed and their canvases queried
	// together. It changes no token except by the default of By. 0 is 1.
	Lookahead int `json:"lookahead,omitempty"`
	RankOptions
	RemaskOptions
	CausalOptions
	LayerOptions
	// Cache is in the syntax of [cache.Parse]; "" keeps nothing. Audit is the fraction of calls
	// with kept keys and values that are compared with full rows; 0 is none.
	Cache string  `json:"cache,omitempty"`
	Audit float64 `json:"audit,omitempty"`
	// CacheCost is the KL, in nats per token, that a cache chosen by the caller for auto may cost; 0 is
	// [cache.Cost]. This package takes auto as it is.
	CacheCost float64 `json:"cache_cost,omitempty"`
	// By selects how tokens are drawn; "" is inverse, or gumbel with Lookahead.
	By draw.By `json:"draw"`
	Draw
	// Match lists the languages that texts must belong to.
	Match []match.Rule `json:"-"`
	// Interactions is the network's interaction profile, by which spread chooses its groups; nil is
	// [spread.Assumed].
	Interactions *spread.Interactions `json:"-"`
}

// Settings are the options in effect, with defaults filled in, as a record keeps them. Options that
// the sampler does not use are omitted.
type Settings struct {
	Options
	// ChangesLaw reports whether tokens are drawn from another distribution than the network's own.
	ChangesLaw bool `json:"changes_law"`
}

// Spreads reports whether the groups are chosen by Interactions.
func (o Options) Spreads() bool {
	d, _ := Describe(o.Sampler)
	return d.Name == spread.Spread.Name
}

// guided reports whether guidance is on.
func (o Options) guided() bool { return o.Guidance != 0 }
