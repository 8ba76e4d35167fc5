package samplers

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/schedule"
)

// Option is one of the options that choose a sampler: what command lines, cases of a
// benchmark and records call it, and which values it has.
type Option struct {
	// Name is that of the flag and of the key of a case. A record has _ in place of -.
	Name string
	// Help is what the option says, with the word for its value in backquotes; Default
	// what is in force where it is not given.
	Help, Default string
	// Words are the names that a value may be; Lists says that it may be a list, too.
	Words []string
	Lists bool
	// Least and Most are the least and the greatest value. Both are 0 where values are words:
	// names, or lists that are one value, as "theta:5,1,0".
	Least, Most float64
	// Whole says that values are whole numbers.
	Whole bool
	// Token says that the option is of [draw.Draw]: it changes how tokens are drawn, for every
	// sampler, and not which positions are revealed when.
	Token bool
	// Calls says that the option is for those who sample: it changes how the network is called,
	// or which of the tokens is drawn, and not the law that they follow.
	Calls bool
	// Unplanned says that the option is of samplers that have no plan ([Sampler.Planned]), Unscored
	// that no probability of a text is worked out under it, as where positions are drawn again.
	Unplanned, Unscored bool
	// field points to where the value is kept: a string, whole number or float64, which are not
	// given where they are zero, or a pointer to one of the latter, not given where it is nil.
	field func(o *Options) any
}

// aboveZero is the least value of an option that must not be 0.
const aboveZero = math.SmallestNonzeroFloat64

// options are in the order in which a cross product takes them: what decides which
// others are used comes first, and what varies fastest in a table comes last.
var options = slices.Concat([]Option{
	{Name: "grid", Words: []string{"uniform", "lambda", "paper", "cos2", "cosine", "profile"}, Lists: true, Default: "uniform, paper for uniformization and matu", Help: "`GRID` of times: uniform, lambda, paper, cos2, cosine, profile, theta:LIST or lambda:LIST", field: func(o *Options) any { return &o.Grid }},
	{Name: "sizes", Words: []string{"equal", "cos2", "cosine", "profile"}, Lists: true, Default: "equal", Help: "`SIZES` of the groups of parallel-fhs and its kin: equal, cos2, cosine, profile or a list", field: func(o *Options) any { return &o.Sizes }},
	{Name: "noise", Words: schedule.Noises(), Default: "the model's", Help: "`NOISE` in whose time steps are taken: " + strings.Join(schedule.Noises(), ", "), field: func(o *Options) any { return &o.Noise }},
	{Name: "order", Words: []string{"left-to-right", "right-to-left", "random"}, Lists: true, Default: "left-to-right", Help: "`ORDER` of the ordered sampler: left-to-right, right-to-left, random or a list of positions", field: func(o *Options) any { return &o.Order }},
	{Name: "tau", Words: []string{"any", "one"}, Default: "any", Help: "`READING` of τ-leaping: any number of jumps reveals a position, or exactly one does", field: func(o *Options) any { return &o.Tau }},
	{Name: "finish", Words: []string{"denoise", "leave"}, Default: "denoise", Help: "`HOW` to end: denoise fills what no step revealed by one more call, leave leaves it masked", field: func(o *Options) any { return &o.Finish }},
	{Name: "scores", Words: []string{"normalised", "raw"}, Default: "normalised", Help: "`FORM` in which score rows are used: normalised or raw", field: func(o *Options) any { return &o.Scores }},
	{Name: "draw", Words: []string{"inverse", "gumbel", "float32-gumbel"}, Default: "inverse, gumbel with --lookahead", Help: "`HOW` tokens are drawn: inverse or gumbel, both exact; or float32-gumbel, the biased race of tokens and mask of programs in float32, which changes the distribution", Calls: true, field: func(o *Options) any { return &o.By }},
	{Name: "kappa", Default: "follows from --steps", Help: "`X`, the constant of the paper's grid, whose steps are X·min(1, θ); in place of --steps", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Kappa }},
	{Name: "T", Default: "the noise's end, or 5", Help: "`X`, the −log α at which sampling starts; on some grids it may be inf", Most: math.Inf(1), field: func(o *Options) any { return &o.T }},
	{Name: "delta", Default: "the noise's end, or 0.01", Help: "`X`, the −log α at which sampling stops", Most: math.MaxFloat64, field: func(o *Options) any { return &o.Delta }},
	{Name: "floor", Default: fmt.Sprint(DefaultFloor), Help: "`K` in 0..1: a fill that looks back leaves a token at least K times its own probability", Most: 1, field: func(o *Options) any { return &o.Floor }},
}, unplannedOptions(decidingOptions, false), unplannedOptions(shapingOptions, false), unplannedOptions(remaskingOptions, true), []Option{
	{Name: "temperature", Default: "1", Help: "`X` that divides the logits; 0 takes the likeliest token; changes the distribution", Most: math.MaxFloat64, Token: true, field: func(o *Options) any { return &o.Temperature }},
	{Name: "top-k", Default: "all", Help: "keep the `K` likeliest tokens; changes the distribution", Least: 1, Most: math.MaxInt32, Whole: true, Token: true, field: func(o *Options) any { return &o.TopK }},
	{Name: "top-p", Default: "1", Help: "keep the fewest tokens that have probability `P` together; changes the distribution", Least: aboveZero, Most: 1, Token: true, field: func(o *Options) any { return &o.TopP }},
	{Name: "suppress-tokens", Lists: true, Default: "none", Help: "`LIST` of ids that are never drawn; changes the distribution", Token: true, field: func(o *Options) any { return &o.SuppressTokens }},
	{Name: "lookahead", Default: "1", Help: "guess the next tokens and ask the network about up to `K` canvases of a sequence in one call: the same samples in fewer calls of more rows", Least: 1, Most: MostLookahead, Whole: true, Calls: true, field: func(o *Options) any { return &o.Lookahead }},
	{Name: "steps", Default: fmt.Sprint(DefaultSteps), Help: "`N` steps of the grid or of a decoder, or groups of parallel-fhs and its kin", Least: 1, Most: schedule.MaxSteps, Whole: true, field: func(o *Options) any { return &o.Steps }},
})

func unplannedOptions(list []Option, unscored bool) []Option {
	for i := range list {
		list[i].Unplanned, list[i].Unscored = true, unscored || list[i].Unscored
	}
	return list
}

// AllOptions lists the options of all samplers, in the order in which a cross product
// takes them. Which of them a sampler has is told by [Descriptor.Flags].
func AllOptions() []Option { return slices.Clone(options) }

// Form says which values there are, as in "a whole number in 1..16777216".
func (p Option) Form() string {
	least := "of at least 0"
	if p.Least > 0 {
		least = "above 0"
	}
	switch {
	case p.Lists && p.Words == nil:
		return "a list"
	case p.Lists:
		return "a name or a list"
	case p.Words != nil:
		return "one of " + strings.Join(p.Words, ", ")
	case p.Whole:
		return fmt.Sprintf("a whole number in %.0f..%.0f", p.Least, p.Most)
	case math.IsInf(p.Most, 1):
		return "a number " + least + ", or inf"
	case p.Most == math.MaxFloat64:
		return "a finite number " + least
	}
	return fmt.Sprintf("a number %s and at most %v", least, p.Most)
}

// Set gives the option in o the value that a text says. Which lists there are is found out by
// [New]; here one may be any text but "". The error says what a value must be, and o is then
// as it was.
func (p Option) Set(o *Options, text string) error {
	at := reflect.ValueOf(p.field(o)).Elem()
	if at.Kind() == reflect.String && (p.Lists && text != "" || slices.Contains(p.Words, text)) {
		at.SetString(text)
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if p.Whole {
		_, err = strconv.Atoi(text)
	}
	if p.Words != nil || err != nil || !(x >= p.Least && x <= p.Most) {
		shown := cmp.Or(text, "empty")
		if q := strconv.Quote(text); len(q) != len(text)+2 {
			shown = q // a line break, say: the message stays one line
		}
		return fault.Errorf("samplers", "%s is %.40s: must be %s", p.Name, shown, p.Form())
	}
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	if at.CanInt() {
		at.SetInt(int64(x))
	} else {
		at.SetFloat(x)
	}
	return nil
}

// Get is the value in o, as [Option.Set] reads it; "" where it is not given.
func (p Option) Get(o Options) string {
	at := reflect.ValueOf(p.field(&o)).Elem()
	switch {
	case at.IsZero():
		return ""
	case at.Kind() == reflect.Pointer:
		at = at.Elem()
	case at.Kind() == reflect.String:
		return at.String()
	}
	if at.CanInt() {
		return strconv.FormatInt(at.Int(), 10)
	}
	return strings.Replace(strconv.FormatFloat(at.Float(), 'g', -1, 64), "+Inf", "inf", 1)
}
