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
	{Name: "grid", Words: []string{"uniform", "lambda", "paper", "cos2", "cosine", "profile"}, Lists: true, Help: "`GRID` of times: uniform, lambda, paper, cos2, cosine, profile or a list", Flag: true},
	{Name: "sizes", Words: []string{"equal", "cos2", "cosine", "profile"}, Lists: true, Default: "equal", Help: "`SIZES` of groups: equal, cos2, cosine, profile or a list", Flag: true},
	{Name: "correlation", Words: []string{"total", "dual"}, Default: "total", Help: "`KIND` of correlation that bounds what random-sizes loses: total or dual"},
	{Name: "noise", Words: schedule.Noises(), Default: "the model's", Help: "`NOISE` in whose time steps are taken: " + strings.Join(schedule.Noises(), ", ")},
	{Name: "order", Words: []string{"left-to-right", "right-to-left", "random"}, Lists: true, Help: "`ORDER` of ordered: left-to-right, right-to-left, random or a list", Flag: true},
	{Name: "distance", Default: "8", Help: "`D`, the least distance of positions that apart reveals together", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "tau", Words: []string{"any", "one"}, Default: "any", Help: "`READING` of τ-leaping: any number of jumps reveals a position, or exactly one does"},
	{Name: "finish", Words: []string{"denoise", "leave"}, Default: "denoise", Help: "`HOW` to end: denoise fills what no step revealed by one more call, leave leaves it masked"},
	{Name: "scores", Words: []string{"normalised", "raw"}, Default: "normalised", Help: "`FORM` in which score rows are used: normalised or raw"},
	{Name: "draw", Words: []string{"inverse", "gumbel"}, Default: "inverse, gumbel with --lookahead", Help: "draw `HOW`: inverse or gumbel", Flag: true, Calls: true},
	{Name: "kappa", Default: "follows from --steps", Help: "`X`, the constant of the paper's grid, whose steps are X·min(1, θ); in place of --steps", Least: samplers.AboveZero, Most: math.MaxFloat64},
	{Name: "T", Default: "the noise's end, or 5", Help: "`X`, the −log α at which sampling starts; on some grids it may be inf", Most: math.Inf(1)},
	{Name: "delta", Default: "the noise's end, or 0.01", Help: "`X`, the −log α at which sampling stops", Most: math.MaxFloat64},
	{Name: "floor", Default: fmt.Sprint(DefaultFloor), Help: "`K` in 0..1: a fill that looks back leaves a token at least K times its own probability", Most: 1},
	{Name: "lookahead", Default: "1", Help: "guess ahead, `K` canvases a call: the ids of --draw gumbel", Flag: true, Least: 1, Most: MostLookahead, Whole: true, Calls: true},
	{Name: "steps", Default: fmt.Sprint(samplers.DefaultSteps), Help: "`N` steps of a grid or decoder, or groups of parallel-fhs", Flag: true, Least: 1, Most: schedule.MaxSteps, Whole: true},
}
