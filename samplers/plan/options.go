package plan

import (
	"encoding/json"
	"math"
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Options are the options of samplers with a plan. The zero value selects the defaults. In JSON the
// fields have the names of the options, with _ in place of -.
type Options struct {
	// Grid is in the syntax of [schedule.ParseGrid]; "" is uniform, or the paper's grid for
	// uniformization and matu.
	Grid string `json:"grid,omitempty"`
	// Kappa is the constant of the paper's grid, used instead of a number of steps.
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
	// Sizes are the group sizes of parallel-fhs: "equal", "cos2", "cosine" or a list "4,2,1";
	// "" is equal.
	Sizes string `json:"sizes,omitempty"`
	// Order is the order of ordered: "left-to-right", "right-to-left", "random" or a list of
	// positions; "" is left-to-right.
	Order string `json:"order,omitempty"`
	// Correlation is the correlation that bounds random-sizes: "total" or "dual"; "" is total.
	Correlation string `json:"correlation,omitempty"`
	// Tau selects how tau-leaping interprets several jumps: "any" or "one"; "" is any.
	Tau string `json:"tau,omitempty"`
	// Finish selects what happens to positions that no step revealed: "denoise" fills them with one
	// more call at δ, "leave" leaves them masked; "" is denoise.
	Finish string `json:"finish,omitempty"`
}

// List returns the options, bound to the fields of o, in the order of a cross product: options that
// decide which others are used come first.
func (o *Options) List() []samplers.Option {
	return []samplers.Option{
		{Field: &o.Grid, Name: "grid", Words: []string{"uniform", "lambda", "paper", "cos2", "cosine"}, Lists: true, Help: "step on `GRID`: uniform, lambda, paper, cos2, cosine or a list", Flag: true},
		{Field: &o.Sizes, Name: "sizes", Words: []string{"equal", "cos2", "cosine"}, Lists: true, Default: "equal", Help: "group by `SIZES`: equal, cos2, cosine or a list", Flag: true},
		{Field: &o.Correlation, Name: "correlation", Words: []string{"total", "dual"}, Default: "total", Help: "bound the loss of random-sizes by a `KIND` of correlation: total or dual"},
		{Field: &o.Noise, Name: "noise", Words: schedule.Noises(), Default: "the model's", Help: "take steps in the time of `NOISE`: " + strings.Join(schedule.Noises(), ", ")},
		{Field: &o.Order, Name: "order", Words: []string{"left-to-right", "right-to-left", "random"}, Lists: true, Help: "use `ORDER` with ordered: left-to-right, right-to-left, random or a list", Flag: true},
		{Field: &o.Tau, Name: "tau", Words: []string{"any", "one"}, Default: "any", Help: "reveal a position after `READING` jumps in a step: any (one or more) or one (exactly)"},
		{Field: &o.Finish, Name: "finish", Words: []string{"denoise", "leave"}, Default: "denoise", Help: "finish remaining masks by `HOW`: denoise fills them with one more call, leave keeps them"},
		{Field: &o.Kappa, Name: "kappa", Default: "follows from steps", Help: "set the constant of the paper's grid to `X`, with steps X·min(1, θ); replaces steps", Least: samplers.AboveZero, Most: math.MaxFloat64},
		{Field: &o.T, Name: "T", Default: "the noise's end, or 5", Help: "start at −log α = `X`; some grids allow inf", Most: math.Inf(1)},
		{Field: &o.Delta, Name: "delta", Default: "the noise's end, or 0.01", Help: "stop at −log α = `X`", Most: math.MaxFloat64},
	}
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

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Theta) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*t = Theta(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(t))
}

// Sampler is a sampler with a plan.
type Sampler struct {
	samplers.Descriptor
	// New makes the method, and sets o and b.Steps to the values in effect.
	New func(o *Options, b samplers.Build) (*Method, error)
}
