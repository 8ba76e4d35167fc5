package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/match"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/spread"
)

// The options of the kinds of samplers, of layers around any sampler, and of draws.
type (
	RankOptions   = rank.Options
	RemaskOptions = remask.Options
	LayerOptions  = layer.Options
	Draw          = draw.Settings
)

// Options selects a sampler. The zero value is fhs. An option that the sampler does not use must
// have its zero value, or [New] returns an error. In JSON the fields have the names of
// [AllOptions], with _ in place of -.
type Options struct {
	// Sampler is a name or alias known to [Describe]; "" is fhs.
	Sampler string `json:"sampler"`
	// Grid is in the syntax of [schedule.ParseGrid]; "" is uniform, or the paper's grid for
	// uniformization and matu.
	Grid string `json:"grid,omitempty"`
	// Steps is N; 0 is [samplers.DefaultSteps].
	Steps int `json:"steps,omitempty"`
	// Kappa is the constant of the paper's grid, used instead of Steps.
	Kappa float64 `json:"kappa,omitempty"`
	// Noise is in the syntax of [schedule.ParseNoise]; "" is the model's noise.
	Noise string `json:"noise,omitempty"`
	// T and Delta are the values of −log α at which the sampler starts and stops. nil selects the
	// noise's own ends, except in these cases. If the noise has no end (exp), and with the paper's
	// grid, they are 5 and 0.01. Delta is 0.01 also for Euler and τ-leaping with the cosine and
	// geometric noises, whose rates are too large for a step to their end. For Tweedie on lambda,
	// cos2 and cosine they are +Inf and 0, but T is finite if the network is time-conditioned and
	// has no row at σ = +Inf. For uniformization and matu, whose bounds are infinite at both ends,
	// T is at most 5 and Delta at least 0.01.
	T     *Theta `json:"T,omitempty"`
	Delta *Theta `json:"delta,omitempty"`
	// Sizes are the group sizes of parallel-fhs: "equal", "cos2", "cosine",
	// "profile" or a list "4,2,1"; "" is equal.
	Sizes string `json:"sizes,omitempty"`
	// Order is the order of ordered: "left-to-right", "right-to-left", "random" or a list of
	// positions; "" is left-to-right.
	Order string `json:"order,omitempty"`
	// Correlation is the correlation that bounds random-sizes: "total" or "dual"; "" is total.
	Correlation string `json:"correlation,omitempty"`
	// Distance is the least distance between positions that apart reveals together; 0 is
	// [spread.DefaultDistance].
	Distance int `json:"distance,omitempty"`
	// Tau selects how tau-leaping interprets several jumps: "any" or "one"; "" is any.
	Tau string `json:"tau,omitempty"`
	// Lookahead is K for fhs, ordered, uniformization, matu and dmpm, and for decoders that rank at
	// temperature 0: the reveals of the next K calls are guessed and their canvases queried
	// together. It changes no token except by the default of By. 0 is 1.
	Lookahead int `json:"lookahead,omitempty"`
	// Finish selects what happens to positions that no step revealed: "denoise" fills them with one
	// more call at δ, "leave" leaves them masked; "" is denoise.
	Finish string `json:"finish,omitempty"`
	RankOptions
	RemaskOptions
	LayerOptions
	// Cache is in the syntax of [cache.Parse]; "" keeps nothing. Audit is the fraction of calls
	// with kept keys and values that are compared with full rows; 0 is none.
	Cache string  `json:"cache,omitempty"`
	Audit float64 `json:"audit,omitempty"`
	// By selects how tokens are drawn; "" is inverse, or gumbel with Lookahead.
	By draw.By `json:"draw"`
	Draw
	// Profile is the loss profile c_j, in nats, for the grid and sizes named profile: the network's
	// loss with j of len(Profile) free positions visible. For a canvas with another number of free
	// positions the sizes are chosen by the loss as a function of the visible fraction j/(d−1),
	// interpolated linearly. See [schedule.Monotone] for a noisy profile.
	Profile []float64 `json:"-"`
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

// Theta is a value of −log α. In JSON it is a number, or "inf".
type Theta float64

// MarshalJSON returns a number, or "inf".
func (t Theta) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(t), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(t))
}

// ByProfile reports whether the grid or the sizes are chosen by Profile.
func (o Options) ByProfile() bool {
	return o.Grid == string(schedule.GridProfile) || o.Sizes == string(schedule.GridProfile)
}

// Spreads reports whether the groups are chosen by Interactions.
func (o Options) Spreads() bool {
	d, _ := Describe(o.Sampler)
	return d.Name == spread.Spread.Name
}

// guided reports whether guidance is on.
func (o Options) guided() bool { return o.Guidance != 0 }

// Unused returns the options that have no effect for the sampler with the other options as set, and
// the reason: kappa without the paper's grid ("grid uniform"), steps with a list, stop "without
// block-length", and so on. The reason is "" for options that the sampler never uses. It returns an
// error if the sampler or grid is unknown.
func (o Options) Unused() (map[string]string, error) {
	d, ok := Describe(cmp.Or(o.Sampler, "fhs"))
	if !ok {
		return nil, fault.Errorf("samplers", "sampler %q: must be one of %s", o.Sampler, strings.Join(Names(), ", "))
	}
	out := make(map[string]string)
	drop := func(beside string, names ...string) {
		for _, name := range names {
			out[name] = beside
		}
	}
	if slices.Contains(d.Flags, "grid") {
		rule := schedule.Rule(d.Name)
		grid := cmp.Or(o.Grid, plan.DefaultGrid(rule))
		g, err := schedule.ParseGrid(grid)
		if err != nil {
			return nil, err
		}
		if g.List != nil {
			drop("grid "+grid, "steps", "T", "delta")
		}
		if g.Kind != schedule.GridPaper {
			drop("grid "+grid, "kappa")
		} else if o.Kappa != 0 {
			drop(fmt.Sprintf("kappa %v", o.Kappa), "steps")
		}
		if rule.Exact() && g.Kind != schedule.GridUniform {
			drop("grid "+grid, "noise")
		}
	}
	if slices.Contains(d.Flags, "sizes") {
		if _, list, err := schedule.ParseSizes(o.Sizes); err != nil {
			return nil, err
		} else if list != nil {
			drop("sizes "+o.Sizes, "steps")
		}
	}
	if o.BlockLength == 0 {
		drop("without block-length", "reach", "max-length")
		if o.MinLength == 0 {
			drop("without block-length", "stop")
		}
		if o.Unconditional != "prompt" {
			drop("without block-length", "prompt-length")
		}
	}
	if !o.guided() {
		drop("without guidance", "unconditional", "keep-tokens", "negative-tokens")
	}
	// Corrections draw from the rows as they are.
	if o.Columns != "" {
		drop("columns", "correct")
	}
	if o.NucleusP != 0 {
		drop("nucleus-p", "correct")
	}
	if slices.Contains(d.Flags, "score") {
		o.RankOptions.Unused(d.Name, drop)
	}
	if slices.Contains(d.Flags, "remask") {
		o.RemaskOptions.Unused(drop)
	}
	for _, p := range options {
		if !slices.Contains(d.Flags, p.Name) {
			out[p.Name] = ""
		}
	}
	return out, nil
}
