package plan

import (
	"fmt"
	"math"
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// OptionList describes the options of samplers with a plan, and those of all draws.
var OptionList = []samplers.Option{
	{Name: "grid", Words: []string{"uniform", "lambda", "paper", "cos2", "cosine", "profile"}, Lists: true, Help: "step on `GRID`: uniform, lambda, paper, cos2, cosine, profile or a list", Flag: true},
	{Name: "sizes", Words: []string{"equal", "cos2", "cosine", "profile"}, Lists: true, Default: "equal", Help: "group by `SIZES`: equal, cos2, cosine, profile or a list", Flag: true},
	{Name: "correlation", Words: []string{"total", "dual"}, Default: "total", Help: "bound the loss of random-sizes by a `KIND` of correlation: total or dual"},
	{Name: "noise", Words: schedule.Noises(), Default: "the model's", Help: "take steps in the time of `NOISE`: " + strings.Join(schedule.Noises(), ", ")},
	{Name: "order", Words: []string{"left-to-right", "right-to-left", "random"}, Lists: true, Help: "use `ORDER` with ordered: left-to-right, right-to-left, random or a list", Flag: true},
	{Name: "distance", Default: "8", Help: "reveal positions together only if they are at least `D` apart", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "tau", Words: []string{"any", "one"}, Default: "any", Help: "reveal a position after `READING` jumps in a step: any (one or more) or one (exactly)"},
	{Name: "finish", Words: []string{"denoise", "leave"}, Default: "denoise", Help: "finish remaining masks by `HOW`: denoise fills them with one more call, leave keeps them"},
	{Name: "draw", Words: []string{"inverse", "gumbel"}, Default: "inverse, gumbel with --lookahead", Help: "draw by `HOW`: inverse or gumbel", Flag: true, Calls: true},
	{Name: "kappa", Default: "follows from --steps", Help: "set the constant of the paper's grid to `X`, with steps X·min(1, θ); replaces --steps", Least: samplers.AboveZero, Most: math.MaxFloat64},
	{Name: "T", Default: "the noise's end, or 5", Help: "start at −log α = `X`; some grids allow inf", Most: math.Inf(1)},
	{Name: "delta", Default: "the noise's end, or 0.01", Help: "stop at −log α = `X`", Most: math.MaxFloat64},
	{Name: "lookahead", Default: "1", Help: "guess ahead, `K` canvases per call; the ids of --draw gumbel", Flag: true, Least: 1, Most: MaxLookahead, Whole: true, Calls: true},
	{Name: "steps", Default: fmt.Sprint(samplers.DefaultSteps), Help: "take `N` steps or groups", Flag: true, Least: 1, Most: schedule.MaxSteps, Whole: true},
}
