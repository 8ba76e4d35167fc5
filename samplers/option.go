package samplers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind says what the values of an option are.
type Kind int

// The kinds of values.
const (
	Word   Kind = iota // a name, or a list that is one value, as "theta:5,1,0"
	Whole              // a whole number
	Number             // a number
)

// Option is one of the options that choose a sampler: what command lines, cases of a
// benchmark and records call it, and which values it has.
type Option struct {
	// Name is that of the flag and of the key of a case. A record has _ in place of -.
	Name string
	// Help is what the option says, with the word for its value in backquotes; Default
	// what is in force where it is not given.
	Help, Default string
	// Least and Most are the least and the greatest value, 0 for words.
	Least, Most float64
	// Token says that the option is of [Draw]: it changes how tokens are drawn, for every
	// sampler, and not which positions are revealed when.
	Token bool
	// field is where the value is kept: a *string, *int or *float64, which are not given
	// where they are zero, or a **float64, which is not given where it is nil.
	field func(o *Options) any
}

// aboveZero is the least value of an option that must not be 0.
const aboveZero = math.SmallestNonzeroFloat64

// options are in the order in which a cross product takes them: what decides which
// others are used comes first, and what varies fastest in a table comes last.
var options = []Option{
	{Name: "grid", Help: "`GRID` of times: uniform, lambda, paper, cos2, cosine, profile, theta:LIST or lambda:LIST",
		Default: "uniform, paper for uniformization and matu", field: func(o *Options) any { return &o.Grid }},
	{Name: "sizes", Help: "`SIZES` of the groups of parallel-fhs and its kin: equal, cos2, cosine, profile or a list",
		Default: "equal", field: func(o *Options) any { return &o.Sizes }},
	{Name: "noise", Help: "`NOISE` in whose time steps are taken: " + strings.Join(Noises(), ", "),
		Default: "the model's", field: func(o *Options) any { return &o.Noise }},
	{Name: "order", Help: "`ORDER` of the ordered sampler: left-to-right, right-to-left, random or a list of positions",
		Default: string(LeftToRight), field: func(o *Options) any { return &o.Order }},
	{Name: "tau", Help: "`READING` of τ-leaping: any jump reveals a position, or exactly one",
		Default: "any", field: func(o *Options) any { return &o.Tau }},
	{Name: "finish", Help: "what becomes of positions that no step revealed: denoise or leave, `HOW`",
		Default: "denoise", field: func(o *Options) any { return &o.Finish }},
	{Name: "scores", Help: "what is made of a score network's rows, normalised or raw: `READING`",
		Default: string(ScoresNormalised), field: func(o *Options) any { return (*string)(&o.Scores) }},
	{Name: "draw", Help: "`HOW` steps draw: exact, or float32-gumbel, the biased race of tokens and mask that float32 programs run; changes the law",
		Default: string(RaceExact), field: func(o *Options) any { return (*string)(&o.Race) }},
	{Name: "kappa", Help: "`X` of the paper's grid, whose steps are X·min(1, θ); in place of --steps",
		Default: "what --steps makes it", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Kappa }},
	{Name: "T", Help: "`X`, the −log α at which the sampler starts; inf where it may be",
		Default: "the noise's end, or 5", Most: math.Inf(1), field: func(o *Options) any { return &o.T }},
	{Name: "delta", Help: "`X`, the −log α at which it stops",
		Default: "the noise's end, or 0.01", Most: math.MaxFloat64, field: func(o *Options) any { return &o.Delta }},
	{Name: "floor", Help: "`K`: a fill that looks back keeps K times a token's own probability; in 0..1",
		Default: fmt.Sprint(DefaultFloor), Most: 1, field: func(o *Options) any { return &o.Floor }},
	{Name: "temperature", Help: "`X` that divides the logits, 0 for the likeliest token; changes the law", Token: true,
		Default: "1", Most: math.MaxFloat64, field: func(o *Options) any { return &o.Temperature }},
	{Name: "top-k", Help: "keep the `K` likeliest tokens; changes the law", Token: true,
		Default: "all", Least: 1, Most: math.MaxInt32, field: func(o *Options) any { return &o.TopK }},
	{Name: "top-p", Help: "keep the likeliest tokens of probability `P` together; changes the law", Token: true,
		Default: "1", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.TopP }},
	{Name: "steps", Help: "`N` steps of the grid, or groups of parallel-fhs and its kin",
		Default: strconv.Itoa(DefaultSteps), Least: 1, Most: maxSteps, field: func(o *Options) any { return &o.Steps }},
}

// AllOptions lists the options of all samplers, in the order in which a cross product
// takes them. Which of them a sampler has is told by [Descriptor.Flags].
func AllOptions() []Option { return slices.Clone(options) }

// Kind is that of the option's values.
func (p Option) Kind() Kind {
	switch p.field(new(Options)).(type) {
	case *string:
		return Word
	case *int:
		return Whole
	}
	return Number
}

// Form says which values there are, as in "a whole number in 1..16777216".
func (p Option) Form() string {
	least := "of at least 0"
	if p.Least > 0 {
		least = "above 0"
	}
	switch kind := p.Kind(); {
	case kind == Word:
		return "a name or a list"
	case kind == Whole:
		return fmt.Sprintf("a whole number in %.0f..%.0f", p.Least, p.Most)
	case math.IsInf(p.Most, 1):
		return "a number " + least + ", or inf"
	case p.Most == math.MaxFloat64:
		return "a finite number " + least
	}
	return fmt.Sprintf("a number %s and at most %v", least, p.Most)
}

// Set gives the option in o the value that a text says. Which names a word may be is
// found out by [New]; here it may be any but "". The error says what a value must be, and
// o is then as it was.
func (p Option) Set(o *Options, text string) error {
	at := p.field(o)
	if word, ok := at.(*string); ok && text != "" {
		*word = text
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if p.Kind() == Whole {
		var n int
		n, err = strconv.Atoi(text)
		x = float64(n)
	}
	if err != nil || !p.holds(x) {
		return fmt.Errorf("samplers: %s %.40q: must be %s", p.Name, text, p.Form())
	}
	switch at := at.(type) {
	case *int:
		*at = int(x)
	case *float64:
		*at = x
	case **float64:
		*at = &x
	}
	return nil
}

// Get is the value in o, as [Option.Set] reads it; "" where it is not given.
func (p Option) Get(o Options) string {
	if word, ok := p.field(&o).(*string); ok {
		return *word
	}
	switch x, given := p.number(o); {
	case !given:
		return ""
	case math.IsInf(x, 1):
		return "inf"
	case p.Kind() == Whole:
		return strconv.FormatFloat(x, 'f', -1, 64)
	default:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
}

// number is the value of an option that is no word, and whether it is given.
func (p Option) number(o Options) (x float64, given bool) {
	switch at := p.field(&o).(type) {
	case *int:
		return float64(*at), *at != 0
	case *float64:
		return *at, *at != 0
	case **float64:
		if *at != nil {
			return **at, true
		}
	}
	return 0, false
}

func (p Option) holds(x float64) bool { return x >= p.Least && x <= p.Most }

// check refuses a number that is not one of the option's.
func (p Option) check(o Options) error {
	if x, given := p.number(o); given && !p.holds(x) {
		return fmt.Errorf("samplers: %s is %v: must be %s", p.Name, x, p.Form())
	}
	return nil
}
