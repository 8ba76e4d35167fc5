package samplers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// DefaultSteps is N where none is given: that of MDLM's sampler.
const DefaultSteps = 128

// The ends of time where the noise has none: those of the paper's grid and of the
// exp noise. Of T only e^(−T) = 0.7 % of a position's reveal times lie beyond it.
const (
	defaultT     = 5.0
	defaultDelta = 0.01
)

// Options choose a sampler. The zero value is fhs. An option that the sampler does
// not use must be left at its zero value; [New] refuses it.
type Options struct {
	// Sampler is a name or alias that [Describe] knows; "" is fhs.
	Sampler string
	// Grid is what [schedule.ParseGrid] reads; "" is uniform, the paper's for
	// uniformization and matu.
	Grid string
	// Steps is N; 0 is [DefaultSteps].
	Steps int
	// Kappa is the constant of the paper's grid, in place of Steps.
	Kappa float64
	// Noise is what [schedule.ParseNoise] reads; "" is the model's.
	Noise string
	// T and Delta are the values of −log α where the sampler starts and stops. nil is
	// the noise's own end, or 5 and 0.01 where that is endless (exp) and for the paper's
	// grid; δ is 0.01 also for Euler and τ-leaping in the time of the cosine and
	// geometric noises, whose rates outgrow a step to their end. With Tweedie on lambda, cos2 and cosine it is +Inf and 0, but a finite T
	// where the network is time-conditioned and has no row at σ = +Inf. For uniformization
	// and matu, whose bound grows without end at both, it is 5 and 0.01 at most and least.
	T, Delta *float64
	// Sizes are the groups of parallel-fhs and paired-fhs: "equal", "cos2",
	// "cosine", "profile" or a list "4,2,1"; "" is equal.
	Sizes string
	// Profile is the loss profile c_j in nats of the profile's grid and sizes: the
	// network's loss with j of len(Profile) free positions visible. Sizes of a canvas
	// with another number of free positions are chosen by the loss as a function of the
	// visible fraction j/(d−1), interpolated linearly. See [schedule.Monotone] for a noisy one.
	Profile []float64
	// Floor is κ of fills that look back, in 0..1; nil is [DefaultFloor].
	Floor *float64
	// Scores says what is made of a score network's rows; "" is normalised.
	Scores Scores
	// Order is ordered's: "left-to-right", "right-to-left", "random" or a list of positions;
	// "" is left-to-right.
	Order string
	// Tau is tau-leaping's reading of several jumps: "any" or "one"; "" is any.
	Tau string
	// Finish says what becomes of positions that no step revealed: "denoise" fills
	// them with one more call at δ, "leave" leaves them masked; "" is denoise.
	Finish string
	// Lookahead is K of fhs, ordered, uniformization, matu and dmpm: the next K reveals
	// are guessed and asked about together, which changes no token; 0 is 1.
	Lookahead int
	// By says how tokens are drawn; "" is inverse, gumbel with Lookahead. float32-gumbel is
	// of euler, tweedie and tau-leaping.
	By draw.By
	// Deciding are the options of decoders that look at rows, Remasking those of decoders that
	// remask.
	Deciding
	Remasking
	// Shaping are options of all samplers, which change the rows or the canvas.
	Shaping
	// Draw says how tokens are drawn.
	draw.Draw
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

// Settings are the options in force, defaults filled in, as a record keeps them:
// what the sampler does not use is left out.
type Settings struct {
	Sampler string   `json:"sampler"`
	Grid    string   `json:"grid,omitempty"`
	Steps   int      `json:"steps,omitempty"`
	Kappa   float64  `json:"kappa,omitempty"`
	Noise   string   `json:"noise,omitempty"`
	T       *Theta   `json:"T,omitempty"`
	Delta   *Theta   `json:"delta,omitempty"`
	Sizes   string   `json:"sizes,omitempty"`
	Order   string   `json:"order,omitempty"`
	Tau     string   `json:"tau,omitempty"`
	Floor   *float64 `json:"floor,omitempty"`
	// Lookahead is the greatest number of canvases of a sequence in a call, 0 for one.
	Lookahead int `json:"lookahead,omitempty"`
	// Scores is empty for a network whose rows are no scores.
	Scores Scores `json:"scores,omitempty"`
	Finish string `json:"finish,omitempty"`
	Deciding
	Remasking
	Shaping
	By draw.By `json:"draw"`
	draw.Draw
	// ChangesLaw says that tokens are not drawn from the network's own distribution.
	ChangesLaw bool `json:"changes_law"`
}

// ByProfile says that the grid or the sizes are chosen by Profile.
func (o Options) ByProfile() bool {
	return o.Grid == string(schedule.GridProfile) || o.Sizes == string(schedule.GridProfile)
}

// Unused tells which options have no meaning for the sampler together with those that are
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
		grid := o.gridOf(rule)
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
		if o.By == draw.ByFloat32Gumbel {
			drop("draw "+string(o.By), "scores")
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
	o.unusedShaping(drop)
	// Corrections draw from the rows as they are.
	if o.Columns != "" {
		drop("columns", "correct")
	}
	if o.NucleusP != 0 {
		drop("nucleus-p", "correct")
	}
	if slices.Contains(d.Flags, "score") {
		o.unusedDeciding(d.Name, drop)
	}
	if slices.Contains(d.Flags, "remask") {
		o.unusedRemasking(drop)
	}
	for _, p := range options {
		if !slices.Contains(d.Flags, p.Name) {
			out[p.Name] = ""
		}
	}
	return out, nil
}

// or is what p points to, another value where it is nil.
func or[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}
