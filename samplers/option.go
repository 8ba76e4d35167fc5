package samplers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// Option is one of the options that choose a sampler: what command lines, cases of a
// benchmark and records call it, and which values it has.
type Option struct {
	// Name is that of the flag and of the key of a case. A record has _ in place of -.
	Name string
	// Help is what the option says, with the word for its value in backquotes; Default
	// what is in force where it is not given.
	Help, Default string
	// Words are the names that a value may be.
	Words []string
	// Least and Most are the least and the greatest value. Both are 0 where values are words:
	// names, or lists that are one value, as "theta:5,1,0".
	Least, Most float64
	// Whole says that values are whole numbers.
	Whole bool
	// Token says that the option is of [Draw]: it changes how tokens are drawn, for every
	// sampler, and not which positions are revealed when.
	Token bool
	// Calls says that the option is for those who sample: it changes how the network is called,
	// or which of the tokens is drawn, and not the law that they follow.
	Calls bool
	// field is where the value is kept: a *string, *int or *float64, which are not given
	// where they are zero, or a **int or **float64, which is not given where it is nil.
	field func(o *Options) any
}

// aboveZero is the least value of an option that must not be 0.
const aboveZero = math.SmallestNonzeroFloat64

// options are in the order in which a cross product takes them: what decides which
// others are used comes first, and what varies fastest in a table comes last.
var options = []Option{
	{Name: "grid", Words: []string{"uniform", "lambda", "paper", "cos2", "cosine", "profile"}, Default: "uniform, paper for uniformization and matu", Help: "`GRID` of times: uniform, lambda, paper, cos2, cosine, profile, theta:LIST or lambda:LIST", field: func(o *Options) any { return &o.Grid }},
	{Name: "sizes", Words: []string{"equal", "cos2", "cosine", "profile"}, Default: "equal", Help: "`SIZES` of the groups of parallel-fhs and its kin: equal, cos2, cosine, profile or a list", field: func(o *Options) any { return &o.Sizes }},
	{Name: "noise", Words: Noises(), Default: "the model's", Help: "`NOISE` in whose time steps are taken: " + strings.Join(Noises(), ", "), field: func(o *Options) any { return &o.Noise }},
	{Name: "order", Words: []string{"left-to-right", "right-to-left", "random"}, Default: "left-to-right", Help: "`ORDER` of the ordered sampler: left-to-right, right-to-left, random or a list of positions", field: func(o *Options) any { return &o.Order }},
	{Name: "tau", Words: []string{"any", "one"}, Default: "any", Help: "`READING` of τ-leaping: any jump reveals a position, or exactly one", field: func(o *Options) any { return &o.Tau }},
	{Name: "finish", Words: []string{"denoise", "leave"}, Default: "denoise", Help: "what becomes of positions that no step revealed: denoise or leave, `HOW`", field: func(o *Options) any { return &o.Finish }},
	{Name: "scores", Words: []string{"normalised", "raw"}, Default: "normalised", Help: "use score rows normalised or raw: `READING`", field: func(o *Options) any { return (*string)(&o.Scores) }},
	{Name: "draw", Words: []string{"inverse", "gumbel", "float32-gumbel"}, Default: "inverse, gumbel with --lookahead", Help: "`HOW` tokens are drawn: inverse or gumbel, both exact, or float32-gumbel, the biased race of tokens and mask that float32 programs run at each step; that changes the law", Calls: true, field: func(o *Options) any { return (*string)(&o.By) }},
	{Name: "kappa", Default: "what --steps makes it", Help: "`X` of the paper's grid, whose steps are X·min(1, θ); in place of --steps", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Kappa }},
	{Name: "T", Default: "the noise's end, or 5", Help: "`X`, the −log α at which the sampler starts; inf where it may be", Most: math.Inf(1), field: func(o *Options) any { return &o.T }},
	{Name: "delta", Default: "the noise's end, or 0.01", Help: "`X`, the −log α at which it stops", Most: math.MaxFloat64, field: func(o *Options) any { return &o.Delta }},
	{Name: "floor", Default: fmt.Sprint(DefaultFloor), Help: "`K`: a fill that looks back keeps K times a token's own probability; in 0..1", Most: 1, field: func(o *Options) any { return &o.Floor }},
	{Name: "score", Words: []string{"confidence", "maskgit-plus", "margin", "entropy", "random"}, Default: "confidence, entropy for entropy-bounded", Help: "`SCORE` that orders positions: confidence, maskgit-plus, margin, entropy or random", field: func(o *Options) any { return (*string)(&o.Score) }},
	{Name: "rule", Words: []string{"llada", "dream", "dllm"}, Default: "llada, none for threshold", Help: "whose `RULE` says how many positions a call reveals: llada, dream or dllm", field: func(o *Options) any { return (*string)(&o.Rule) }},
	{Name: "schedule", Words: []string{"linear", "cosine"}, Default: "linear", Help: "`SCHEDULE` of the rule dllm: linear or cosine", field: func(o *Options) any { return &o.Schedule }},
	{Name: "transfer", Words: []string{"rounded", "binomial"}, Default: "rounded", Help: "`HOW` the rule dllm makes numbers of positions: rounded, or drawn: binomial", field: func(o *Options) any { return &o.Transfer }},
	{Name: "reach", Words: []string{"before", "inside"}, Default: "before", Help: "whether masks `WHERE` are candidates beside those of the block: before it, or only those inside", field: func(o *Options) any { return &o.Reach }},
	{Name: "unconditional", Words: []string{"visible", "prompt"}, Default: "visible", Help: "`WHAT` guidance masks: what was visible at the start, or the prompt's positions", field: func(o *Options) any { return &o.Unconditional }},
	{Name: "columns", Words: []string{"clean", "raw"}, Default: "clean", Help: "`COLUMNS` that may win: clean, or raw, with mask and padding, as upstream programs have it", field: func(o *Options) any { return &o.Columns }},
	{Name: "suppress-tokens", Help: "`LIST` of ids that are never drawn", field: func(o *Options) any { return &o.SuppressTokens }},
	{Name: "begin-suppress-tokens", Help: "`LIST` of ids that have confidence 0, and are no part of that of others", field: func(o *Options) any { return &o.BeginSuppressTokens }},
	{Name: "eps", Default: "0.001", Help: "`X`, where the time of the rule dream ends", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.Eps }},
	{Name: "alg-temp", Default: "0", Help: "draw positions in proportion to e^(score/`X`)", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.AlgTemp }},
	{Name: "threshold", Default: "0.9, 0.95 for llada2", Help: "`P`, the score that is enough to be revealed", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.Threshold }},
	{Name: "factor", Default: "1", Help: "reveal the r-th best position where its confidence is at least 1 − `F`/(r+1)", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Factor }},
	{Name: "relaxed-threshold", Default: "0.75", Help: "`P`, the score that is enough near an anchor", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.RelaxedThreshold }},
	{Name: "radius", Default: "4", Help: "`N` positions from an anchor are near it", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.Radius }},
	{Name: "gamma", Default: "0.1", Help: "`NATS`, the bound on the entropies of what a call reveals, but the greatest", Most: math.MaxFloat64, field: func(o *Options) any { return &o.Gamma }},
	{Name: "editing-threshold", Default: "none", Help: "replace a token by one of more than `P` probability", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.EditingThreshold }},
	{Name: "at-least", Default: "the quota, 1 with --editing-threshold", Help: "reveal at least `N` positions a call", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.AtLeast }},
	{Name: "post-steps", Default: "16", Help: "at most `N` calls that only edit", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.PostSteps }},
	{Name: "block-length", Default: "one block", Help: "fill blocks of `N` positions one after the other", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.BlockLength }},
	{Name: "prompt-length", Default: "up to the first mask", Help: "the first `N` positions are the prompt: blocks begin behind it", Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.PromptLength }},
	{Name: "stop", Default: "none", Help: "end where a finished block holds the token `ID`, and fill the rest with it", Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.Stop }},
	{Name: "guidance", Default: "none", Help: "logits are (1+`W`)·conditional − W·unconditional: two canvases a call", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Guidance }},
	{Name: "remask", Words: []string{"cap", "rescale", "conf", "loop", "forward-backward", "dfm"}, Default: "cap", Help: "`HOW` positions are masked again: cap, rescale, conf, loop, forward-backward or dfm", field: func(o *Options) any { return (*string)(&o.Remask) }},
	{Name: "eta", Default: "0.02, 0.015 for rescale", Help: "`P`, the probability of being masked again, or its bound", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.Eta }},
	{Name: "t-on", Default: "0.55", Help: "`T` at which loop begins to remask", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.TOn }},
	{Name: "t-off", Default: "0.05", Help: "`T` at which loop ends", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.TOff }},
	{Name: "alpha-on", Default: "0.9", Help: "`FRACTION` of positions that are revealed in the loop", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.AlphaOn }},
	{Name: "nucleus-p", Default: "1", Help: "keep the likeliest tokens of at most probability `P` together, as ReMDM does: the one that crosses is left out; changes the law", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.NucleusP }},
	{Name: "temperature", Default: "1", Help: "`X` that divides the logits, 0 for the likeliest token; changes the law", Most: math.MaxFloat64, Token: true, field: func(o *Options) any { return &o.Temperature }},
	{Name: "top-k", Default: "all", Help: "keep the `K` likeliest tokens; changes the law", Least: 1, Most: math.MaxInt32, Whole: true, Token: true, field: func(o *Options) any { return &o.TopK }},
	{Name: "top-p", Default: "1", Help: "keep the likeliest tokens of probability `P` together; changes the law", Least: aboveZero, Most: 1, Token: true, field: func(o *Options) any { return &o.TopP }},
	{Name: "lookahead", Default: "1", Help: "guess the next tokens and ask the network about up to `K` canvases of a sequence in one call: the samples of --draw in fewer calls of more rows", Least: 1, Most: MostLookahead, Whole: true, Calls: true, field: func(o *Options) any { return &o.Lookahead }},
	{Name: "steps", Default: fmt.Sprint(DefaultSteps), Help: "`N` steps of the grid, or groups of parallel-fhs and its kin", Least: 1, Most: maxSteps, Whole: true, field: func(o *Options) any { return &o.Steps }},
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
	case p.Most == 0:
		return "a name or a list"
	case p.Whole:
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
	if p.Whole {
		_, err = strconv.Atoi(text)
	}
	if err != nil || !(x >= p.Least && x <= p.Most) {
		return fault.Errorf("samplers", "%s is %.40s: must be %s", p.Name, cmp.Or(text, "empty"), p.Form())
	}
	switch at := at.(type) {
	case *int:
		*at = int(x)
	case *float64:
		*at = x
	case **int:
		n := int(x)
		*at = &n
	case **float64:
		*at = &x
	}
	return nil
}

// Get is the value in o, as [Option.Set] reads it; "" where it is not given.
func (p Option) Get(o Options) string {
	var x *float64
	switch at := p.field(&o).(type) {
	case *string:
		return *at
	case *int:
		if *at != 0 {
			return strconv.Itoa(*at)
		}
	case **int:
		if *at != nil {
			return strconv.Itoa(**at)
		}
	case *float64:
		if *at != 0 {
			x = at
		}
	case **float64:
		x = *at
	}
	if x == nil {
		return ""
	}
	return strings.Replace(strconv.FormatFloat(*x, 'g', -1, 64), "+Inf", "inf", 1)
}
