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

// The options of kinds of samplers, of layers around any sampler, and of draws.
type (
	RankOptions   = rank.Options
	RemaskOptions = remask.Options
	LayerOptions  = layer.Options
	Draw          = draw.Settings
)

// Options choose a sampler. The zero value is fhs. An option that the sampler does
// not use must be left at its zero value; [New] refuses it. In JSON they have the names of
// [AllOptions], _ in place of -.
type Options struct {
	// Sampler is a name or alias that [Describe] knows; "" is fhs.
	Sampler string `json:"sampler"`
	// Grid is what [schedule.ParseGrid] reads; "" is uniform, the paper's for
	// uniformization and matu.
	Grid string `json:"grid,omitempty"`
	// Steps is N; 0 is [samplers.DefaultSteps].
	Steps int `json:"steps,omitempty"`
	// Kappa is the constant of the paper's grid, in place of Steps.
	Kappa float64 `json:"kappa,omitempty"`
	// Noise is what [schedule.ParseNoise] reads; "" is the model's.
	Noise string `json:"noise,omitempty"`
	// T and Delta are the values of −log α where the sampler starts and stops. nil is
	// the noise's own end, or 5 and 0.01 where that is endless (exp) and for the paper's
	// grid; δ is 0.01 also for Euler and τ-leaping in the time of the cosine and
	// geometric noises, whose rates outgrow a step to their end. With Tweedie on lambda, cos2
	// and cosine it is +Inf and 0, but a finite T where the network is time-conditioned and has
	// no row at σ = +Inf. For uniformization and matu, whose bound grows without end at both,
	// it is 5 and 0.01 at most and least.
	T     *Theta `json:"T,omitempty"`
	Delta *Theta `json:"delta,omitempty"`
	// Sizes are the groups of parallel-fhs and paired-fhs: "equal", "cos2",
	// "cosine", "profile" or a list "4,2,1"; "" is equal.
	Sizes string `json:"sizes,omitempty"`
	// Order is ordered's: "left-to-right", "right-to-left", "random" or a list of positions;
	// "" is left-to-right.
	Order string `json:"order,omitempty"`
	// Correlation is what bounds random-sizes: "total" or "dual"; "" is total.
	Correlation string `json:"correlation,omitempty"`
	// Distance is apart's least distance of positions that are revealed together; 0 is
	// [spread.DefaultDistance].
	Distance int `json:"distance,omitempty"`
	// Tau is tau-leaping's reading of several jumps: "any" or "one"; "" is any.
	Tau string `json:"tau,omitempty"`
	// Floor is κ of fills that look back, in 0..1; nil is [plan.DefaultFloor].
	Floor *float64 `json:"floor,omitempty"`
	// Lookahead is K of fhs, ordered, uniformization, matu and dmpm, and of decoders that rank at
	// temperature 0: what the next K calls reveal is guessed and asked about together, which changes no
	// token but by the default of By; 0 is 1.
	Lookahead int `json:"lookahead,omitempty"`
	// Scores is what is made of a score network's rows; "" is normalised.
	Scores plan.Scores `json:"scores,omitempty"`
	// Finish is what becomes of positions that no step revealed: "denoise" fills
	// them with one more call at δ, "leave" leaves them masked; "" is denoise.
	Finish string `json:"finish,omitempty"`
	RankOptions
	RemaskOptions
	LayerOptions
	// Cache is what [cache.Parse] reads; "" keeps nothing. Audit is the fraction of the calls with
	// kept keys and values that are compared with full rows; 0 is none.
	Cache string  `json:"cache,omitempty"`
	Audit float64 `json:"audit,omitempty"`
	// Particles is N of [particles.Around]; 0 is 1.
	Particles int `json:"particles,omitempty"`
	// By is how tokens are drawn; "" is inverse, gumbel with Lookahead.
	By draw.By `json:"draw"`
	Draw
	// Profile is the loss profile c_j in nats of the profile's grid and sizes: the
	// network's loss with j of len(Profile) free positions visible. Sizes of a canvas
	// with another number of free positions are chosen by the loss as a function of the
	// visible fraction j/(d−1), interpolated linearly. See [schedule.Monotone] for a noisy one.
	Profile []float64 `json:"-"`
	// Match are the languages that texts are kept in.
	Match []match.Rule `json:"-"`
	// Interactions is the network's interaction profile, by which spread chooses its groups; nil is
	// [spread.Assumed].
	Interactions *spread.Interactions `json:"-"`
}

// Settings are the options in force, defaults filled in, as a record keeps them: what the sampler
// does not use is left out.
type Settings struct {
	Options
	// ChangesLaw reports whether tokens are not drawn from the network's own distribution.
	ChangesLaw bool `json:"changes_law"`
}

// Theta is a value of −log α. In JSON it is a number, or "inf".
type Theta float64

// MarshalJSON writes a number, or "inf".
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

// guided reports whether there is guidance.
func (o Options) guided() bool { return o.Guidance != 0 }

// Unused returns which options have no meaning for the sampler together with those that are
// set, and why: kappa but with the paper's grid ("grid uniform"), steps beside a list, stop
// "without block-length", and so on; "" for those that it never has. It is an error when the sampler or grid is not known.
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
		if o.Tau == "one" {
			drop("tau one", "scores")
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
