package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Options are those of decoders that look at rows, and of blocks and guidance around any sampler.
// The zero value gives none.
type Options struct {
	// Score is what candidates are ordered by; "" is confidence, and entropy for
	// entropy-bounded.
	Score RankBy `json:"score,omitempty"`
	// Rule is how tokens a call are rounded: that of LLaDA, Dream or dLLM; "" is llada for
	// confidence, llada2 and factor, and none for threshold, which then has no quotas.
	Rule schedule.Rounding `json:"rule,omitempty"`
	// Schedule is dLLM's α, "linear" or "cosine"; "" is linear. Transfer is "rounded", or
	// "binomial" for its quotas that are drawn; "" is rounded. Eps is Dream's ε; 0 is 0.001.
	Schedule string  `json:"schedule,omitempty"`
	Transfer string  `json:"transfer,omitempty"`
	Eps      float64 `json:"eps,omitempty"`
	// AlgTemp draws positions in proportion to e^(score/AlgTemp); 0 takes the best.
	AlgTemp float64 `json:"alg_temp,omitempty"`
	// Threshold is the score that is enough; 0 is 0.9, and 0.95 for llada2. Factor is of the sampler
	// factor; 0 is 1. RelaxedThreshold and Radius are localleap's; 0 is 0.75 and 4. Gamma is
	// of entropy-bounded, in nats; nil is 0.1.
	Threshold        float64  `json:"threshold,omitempty"`
	Factor           float64  `json:"factor,omitempty"`
	RelaxedThreshold float64  `json:"relaxed_threshold,omitempty"`
	Radius           int      `json:"radius,omitempty"`
	Gamma            *float64 `json:"gamma,omitempty"`
	// KLThreshold and History are klass's: the divergence in nats below which a row is stable, and
	// for how many calls it must be; 0 is 0.01 and 2.
	KLThreshold float64 `json:"kl_threshold,omitempty"`
	History     int     `json:"history,omitempty"`
	// EditingThreshold has llada2 replace tokens; 0 does not. AtLeast is how many it commits
	// at least in place of a quota; 0 is the quota, and 1 with edits. PostSteps are its calls
	// without masks; 0 is 16.
	EditingThreshold float64 `json:"editing_threshold,omitempty"`
	AtLeast          int     `json:"at_least,omitempty"`
	PostSteps        int     `json:"post_steps,omitempty"`
	// BlockLength fills blocks of so many positions one after the other; 0 is one block of
	// the whole canvas. PromptLength is where the first begins; nil is the first mask.
	BlockLength  int  `json:"block_length,omitempty"`
	PromptLength *int `json:"prompt_length,omitempty"`
	// Reach is "before" where masks before the block are candidates too, or "inside"; "" is
	// before.
	Reach string `json:"reach,omitempty"`
	// Stop is the token that ends a sequence where a finished block holds it; nil is none.
	Stop *int `json:"stop,omitempty"`
	// Guidance is w of (1+w)·conditional − w·unconditional logits; 0 is no guidance.
	// Unconditional is what the unconditional canvas masks: "visible", what was visible at
	// the start, or "prompt", by position; "" is visible.
	Guidance      float64 `json:"guidance,omitempty"`
	Unconditional string  `json:"unconditional,omitempty"`
	// KeepTokens stay visible on the unconditional canvas: a list of ids.
	KeepTokens string `json:"keep_tokens,omitempty"`
	// BeginSuppressTokens have confidence 0 and are no part of that of others: a list of ids.
	BeginSuppressTokens string `json:"begin_suppress_tokens,omitempty"`
	// OutsideKept is whether calls about a block, but for its first, compute it and not what is before
	// it: candidates are then inside. The rows of such a call do not predict the first position in a
	// network that predicts position l from row l−1, so that the first call reveals it alone.
	OutsideKept bool `json:"-"`
	// Ahead is the greatest number of canvases of a call that foresees others; 0 foresees none.
	Ahead int `json:"-"`
	// Columns is "clean", or "raw" where MASK and padding may be drawn, as in upstream
	// programs; "" is clean.
	Columns string `json:"columns,omitempty"`
}

// defaultThreshold is Fast-dLLM's, of its evaluation, and LocalLeap's.
const defaultThreshold = 0.9

// rankFlags are the options of all decoders that rank positions.
var rankFlags = []string{"score", "reach", "begin-suppress-tokens"}

// thresholds are the scores that a threshold can be for.
var thresholds = []RankBy{ByConfidence, ByMaskGIT, ByMargin}

// OptionList describes the options.
var OptionList = []samplers.Option{
	{Name: "score", Words: []string{"confidence", "maskgit-plus", "margin", "entropy", "random", "leftmost"}, Default: "confidence, entropy for entropy-bounded", Help: "order positions by `SCORE`: confidence, maskgit-plus, margin, entropy, random or leftmost"},
	{Name: "rule", Words: []string{"llada", "dream", "dllm"}, Default: "llada, none for threshold", Help: "choose how many positions a call reveals by `RULE`: llada, dream or dllm"},
	{Name: "editing-threshold", Default: "none", Help: "replace a token in the current block if another has probability above `P`", Least: samplers.AboveZero, Most: 1, Unscored: true},
	{Name: "schedule", Words: []string{"linear", "cosine"}, Default: "linear", Help: "use `SCHEDULE` with the rule dllm: linear or cosine"},
	{Name: "transfer", Words: []string{"rounded", "binomial"}, Default: "rounded", Help: "make the counts of the rule dllm whole by `HOW`: rounded or binomial (drawn)"},
	{Name: "reach", Words: []string{"before", "inside"}, Default: "before", Help: "take candidates from `WHERE`: before (all masks up to the block's end) or inside the block"},
	{Name: "columns", Words: []string{"clean", "raw"}, Default: "clean", Help: "draw from `COLUMNS`: clean, or raw, with mask and padding as in upstream programs"},
	{Name: "begin-suppress-tokens", Lists: true, Default: "none", Help: "give the ids of `LIST` confidence 0, and omit them from the confidence of others"},
	{Name: "eps", Default: "0.001", Help: "end the time of the rule dream at `X`", Least: samplers.AboveZero, Most: 1},
	{Name: "alg-temp", Default: "the best first", Help: "draw positions with weights e^(score/`X`)", Least: samplers.AboveZero, Most: math.MaxFloat64},
	{Name: "threshold", Default: "the sampler's", Help: "reveal positions with a score of at least `P`", Flag: true, Least: samplers.AboveZero, Most: 1},
	{Name: "factor", Default: "1", Help: "reveal the r-th best position, r ≥ 2, if its confidence is at least 1 − `F`/(r+1)", Least: samplers.AboveZero, Most: math.MaxFloat64},
	{Name: "relaxed-threshold", Default: "0.75", Help: "reveal positions near an anchor with a score of at least `P`", Least: samplers.AboveZero, Most: 1},
	{Name: "radius", Default: "4", Help: "count positions up to `N` from an anchor (one that reaches --threshold) as near it", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "gamma", Default: "0.1", Help: "reveal positions whose entropies, without the greatest, sum to at most `NATS`", Most: math.MaxFloat64},
	{Name: "kl-threshold", Default: "0.01", Help: "call a row stable if it diverges from the last by less than `NATS`", Least: samplers.AboveZero, Most: math.MaxFloat64},
	{Name: "history", Default: "2", Help: "require rows to be stable for `N` calls", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "at-least", Default: "the quota, 1 with editing-threshold", Help: "reveal at least `N` positions a call", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "post-steps", Default: "16", Help: "make at most `N` calls that only edit", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true},
}

// Decoder is a sampler that ranks positions.
type Decoder struct {
	samplers.Descriptor
	// read reads the options, filling in what is in force, and sets the choice of the law.
	read func(o *Options, law *rankLaw) error
}

// New makes the kernel, and fills in what of o and steps is in force. It returns whether tokens
// follow another law than the network's.
func (d Decoder) New(o *Options, steps *int, how draw.Settings, c samplers.Spec) (k samplers.Kernel, changesLaw bool, err error) {
	law := &rankLaw{steps: *steps, block: o.BlockLength, prompt: samplers.ValueOr(o.PromptLength, -1), stop: samplers.ValueOr(o.Stop, -1), inside: o.Reach == "inside", raw: o.Columns == "raw", outsideKept: o.OutsideKept, temper: o.AlgTemp, editing: o.EditingThreshold, most: o.Ahead}
	var errs [3]error
	errs[0] = d.read(o, law)
	law.wholeBlocks = law.rounding == schedule.RoundLLaDA && c.BlockSize > 0
	law.score, *steps = o.Score, law.steps
	if law.block > 0 && o.Reach == "" {
		o.Reach = "before"
	}
	law.begin, errs[1] = draw.IDs("begin-suppress-tokens", o.BeginSuppressTokens, c.Columns)
	errs[2] = law.mayLookAhead(how)
	chosenByToken := law.score == ByConfidence || law.score == ByMaskGIT
	law.byToken = chosenByToken && how.AtTemperature() != 0
	law.firstAlone = c.Shift && c.BlockSize > 0
	return law, chosenByToken || law.raw || law.editing > 0, fault.Join("samplers", errs[:]...)
}

// Unused drops options that another one of the sampler excludes.
func (o Options) Unused(sampler string, drop func(beside string, names ...string)) {
	switch {
	case sampler == "threshold" && o.Rule == "":
		drop("without rule", "steps")
	case sampler == "llada2" && o.EditingThreshold > 0:
		drop("editing-threshold", "steps")
	case sampler == "llada2":
		drop("without editing-threshold", "post-steps")
	}
	if o.Rule != schedule.RoundDLLM && sampler == "confidence" {
		drop("rule "+cmp.Or(string(o.Rule), string(schedule.RoundLLaDA)), "schedule", "transfer")
	}
	if o.Rule != schedule.RoundDream && sampler == "confidence" {
		drop("rule "+cmp.Or(string(o.Rule), string(schedule.RoundLLaDA)), "eps")
	}
	if s := o.Score; s != "" && s != ByConfidence {
		drop("score "+string(s), "begin-suppress-tokens")
	}
	if o.Score == ByRandom || o.Score == ByLeftmost {
		drop("score "+string(o.Score), "alg-temp")
	}
}

// word checks that a value is one of those of a sampler; "" is the first.
func word[T ~string](name string, value T, words ...T) (T, error) {
	if value == "" {
		return words[0], nil
	}
	if !slices.Contains(words, value) {
		var list []string
		for _, w := range words {
			list = append(list, string(w))
		}
		last := len(list) - 1
		return value, fault.Errorf("samplers", "%s %q: must be %s or %s", name, value, strings.Join(list[:last], ", "), list[last])
	}
	return value, nil
}
