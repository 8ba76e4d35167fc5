package samplers

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Deciding are the options of decoders that look at rows. The zero value gives none.
type Deciding struct {
	// Score is what candidates are ordered by; "" is confidence, and entropy for
	// entropy-bounded.
	Score Score `json:"score,omitempty"`
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
	// Threshold is the score that is enough; 0 is 0.9, and 0.95 for llada2. Factor is that of
	// factor; 0 is 1. RelaxedThreshold and Radius are localleap's; 0 is 0.75 and 4. Gamma is
	// that of entropy-bounded in nats; nil is 0.1.
	Threshold        float64  `json:"threshold,omitempty"`
	Factor           float64  `json:"factor,omitempty"`
	RelaxedThreshold float64  `json:"relaxed_threshold,omitempty"`
	Radius           int      `json:"radius,omitempty"`
	Gamma            *float64 `json:"gamma,omitempty"`
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
	// Unconditional says what the unconditional canvas masks: "visible", what was visible at
	// the start, or "prompt", by position; "" is visible.
	Guidance      float64 `json:"guidance,omitempty"`
	Unconditional string  `json:"unconditional,omitempty"`
	// KeepTokens stay visible on the unconditional canvas: a list of ids.
	KeepTokens string `json:"keep_tokens,omitempty"`
	// BeginSuppressTokens have confidence 0 and are no part of that of others: a list of ids.
	BeginSuppressTokens string `json:"begin_suppress_tokens,omitempty"`
	// Columns is "clean", or "raw" where MASK and padding may be drawn, as upstream programs
	// have it; "" is clean.
	Columns string `json:"columns,omitempty"`
}

// The defaults of decoders that look at rows.
const (
	defaultEps              = 1e-3
	defaultThreshold        = 0.9  // Fast-dLLM's evaluation, and LocalLeap's
	defaultSurely           = 0.95 // LLaDA2's
	defaultFactor           = 1
	defaultRelaxedThreshold = 0.75
	defaultRadius           = 4
	defaultGamma            = 0.1
	defaultPostSteps        = 16
	defaultBlockSteps       = 32 // LLaDA2's
)

var decidingOptions = []Option{
	{Name: "score", Words: []string{"confidence", "maskgit-plus", "margin", "entropy", "random"}, Default: "confidence, entropy for entropy-bounded", Help: "`SCORE` that orders positions: confidence, maskgit-plus, margin, entropy or random", field: func(o *Options) any { return &o.Score }},
	{Name: "rule", Words: []string{"llada", "dream", "dllm"}, Default: "llada, none for threshold", Help: "whose `RULE` says how many positions a call reveals: llada, dream or dllm", field: func(o *Options) any { return &o.Rule }},
	{Name: "block-length", Default: "one block", Help: "fill blocks of `N` positions one after the other", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.BlockLength }},
	{Name: "guidance", Default: "none", Help: "logits are (1+`W`)·conditional − W·unconditional: two canvases a call; changes the distribution", Least: aboveZero, Most: mostGuidance, field: func(o *Options) any { return &o.Guidance }},
	{Name: "editing-threshold", Default: "none", Help: "replace a token by one of more than `P` probability", Least: aboveZero, Most: 1, Unscored: true, field: func(o *Options) any { return &o.EditingThreshold }},
	{Name: "schedule", Words: []string{"linear", "cosine"}, Default: "linear", Help: "`SCHEDULE` of the rule dllm: linear or cosine", field: func(o *Options) any { return &o.Schedule }},
	{Name: "transfer", Words: []string{"rounded", "binomial"}, Default: "rounded", Help: "`HOW` the rule dllm gets whole numbers of positions: rounded, or drawn, binomial", field: func(o *Options) any { return &o.Transfer }},
	{Name: "reach", Words: []string{"before", "inside"}, Default: "before", Help: "`WHERE` candidates are: all masks before the end of the block, or those inside it: before or inside", field: func(o *Options) any { return &o.Reach }},
	{Name: "unconditional", Words: []string{"visible", "prompt"}, Default: "visible", Help: "`WHAT` guidance masks: what was visible at the start, or the prompt's positions", field: func(o *Options) any { return &o.Unconditional }},
	{Name: "columns", Words: []string{"clean", "raw"}, Default: "clean", Help: "`COLUMNS` that may win: clean, or raw, with mask and padding, as upstream programs have it", field: func(o *Options) any { return &o.Columns }},
	{Name: "keep-tokens", Lists: true, Default: "none", Help: "`LIST` of ids that guidance does not mask", field: func(o *Options) any { return &o.KeepTokens }},
	{Name: "begin-suppress-tokens", Lists: true, Default: "none", Help: "`LIST` of ids that may win, with confidence 0, and that are left out of the confidence of others", field: func(o *Options) any { return &o.BeginSuppressTokens }},
	{Name: "eps", Default: "0.001", Help: "`X`, where the time of the rule dream ends", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.Eps }},
	{Name: "alg-temp", Default: "the best first", Help: "draw positions in proportion to e^(score/`X`)", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.AlgTemp }},
	{Name: "threshold", Default: "0.9, 0.95 for llada2", Help: "`P`, the score that is enough to be revealed", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.Threshold }},
	{Name: "factor", Default: "1", Help: "reveal the r-th best position where its confidence is at least 1 − `F`/(r+1)", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Factor }},
	{Name: "relaxed-threshold", Default: "0.75", Help: "`P`, the score that is enough near an anchor", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.RelaxedThreshold }},
	{Name: "radius", Default: "4", Help: "positions up to `N` from an anchor, which reaches --threshold, are near it", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.Radius }},
	{Name: "gamma", Default: "0.1", Help: "`NATS` that the entropies of what a call reveals, without the greatest, sum to at most", Most: math.MaxFloat64, field: func(o *Options) any { return &o.Gamma }},
	{Name: "at-least", Default: "the quota, 1 with --editing-threshold", Help: "reveal at least `N` positions a call", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.AtLeast }},
	{Name: "post-steps", Default: "16", Help: "at most `N` calls that only edit", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true, field: func(o *Options) any { return &o.PostSteps }},
	{Name: "prompt-length", Default: "up to the first mask", Help: "the first `N` positions are the prompt: blocks begin behind it", Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.PromptLength }},
	{Name: "min-length", Default: "none", Help: "never draw --stop at the first `N` free positions; changes the distribution", Least: 1, Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.MinLength }},
	{Name: "stop", Default: "none", Help: "end where a finished block holds the token `ID`, and fill the rest with it", Most: math.MaxInt32, Whole: true, field: func(o *Options) any { return &o.Stop }},
}

// rankFlags are those of all decoders that rank positions.
var rankFlags = slices.Concat([]string{"score", "reach", "begin-suppress-tokens"}, drawFlags)

// unusedDeciding tells of options that another excludes.
func (o Options) unusedDeciding(sampler string, drop func(beside string, names ...string)) {
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
	if s := o.Score; s != "" && s != ScoreConfidence {
		drop("score "+string(s), "begin-suppress-tokens")
	}
	if o.Score == ScoreRandom {
		drop("score random", "alg-temp")
	}
}

// word checks that a value is one of those of a sampler, and gives the first where it is "".
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

// ranks makes the decoders that rank positions by the network's rows.
func (s *Sampler) ranks(o Options, c Spec) error {
	set := &s.settings.Deciding
	*set = o.Deciding
	law := &ranking{block: o.BlockLength, prompt: or(o.PromptLength, -1), stop: or(o.Stop, -1), inside: o.Reach == "inside", raw: o.Columns == "raw", temper: o.AlgTemp, editing: o.EditingThreshold}
	scores := []Score{ScoreConfidence, ScoreMaskGIT, ScoreMargin} // those that a threshold can be for
	var errs [3]error
	switch name := s.settings.Sampler; name {
	case "confidence":
		scores = append(scores, ScoreEntropy, ScoreRandom)
		s.settings.Steps = cmp.Or(o.Steps, DefaultSteps)
		set.Rule = cmp.Or(o.Rule, schedule.RoundLLaDA)
		switch set.Rule {
		case schedule.RoundDream:
			set.Eps = cmp.Or(o.Eps, defaultEps)
		case schedule.RoundDLLM:
			set.Schedule, set.Transfer = cmp.Or(o.Schedule, "linear"), cmp.Or(o.Transfer, "rounded")
		}
		law.rounding, law.eps = set.Rule, set.Eps
		law.cosine, law.binomial = set.Schedule == "cosine", set.Transfer == "binomial"
		law.choosing = quotaChoice{law.rounding, law.eps}
	case "threshold":
		set.Threshold = cmp.Or(o.Threshold, defaultThreshold)
		law.choosing = thresholdChoice{set.Threshold, o.Rule}
		if o.Rule != "" {
			_, errs[0] = word("rule", o.Rule, schedule.RoundDream, schedule.RoundDLLM)
			s.settings.Steps = cmp.Or(o.Steps, DefaultSteps)
			if o.Rule == schedule.RoundDLLM {
				law.rounding = schedule.RoundDLLM
			}
		}
	case "factor":
		set.Rule, errs[0] = word("rule", o.Rule, schedule.RoundLLaDA, schedule.RoundDLLM)
		set.Factor = cmp.Or(o.Factor, defaultFactor)
		law.choosing = factorChoice{set.Factor, set.Rule == schedule.RoundDLLM}
	case "localleap":
		set.Threshold, set.RelaxedThreshold = cmp.Or(o.Threshold, defaultThreshold), cmp.Or(o.RelaxedThreshold, defaultRelaxedThreshold)
		set.Radius = cmp.Or(o.Radius, defaultRadius)
		law.choosing = leapChoice{set.Threshold, set.RelaxedThreshold, set.Radius}
	case "entropy-bounded":
		scores = []Score{ScoreEntropy, ScoreConfidence, ScoreMaskGIT, ScoreMargin}
		set.Gamma = new(or(o.Gamma, defaultGamma))
		law.choosing = boundedChoice{*set.Gamma}
	case "llada2":
		set.Threshold = cmp.Or(o.Threshold, defaultSurely)
		if edits := o.EditingThreshold > 0; edits {
			set.AtLeast, set.PostSteps = cmp.Or(o.AtLeast, 1), cmp.Or(o.PostSteps, defaultPostSteps)
			law.choosing = surelyChoice{set.Threshold, set.AtLeast, edits, set.PostSteps}
		} else {
			law.choosing = surelyChoice{threshold: set.Threshold, least: o.AtLeast}
			s.settings.Steps, law.ofLength = cmp.Or(o.Steps, defaultBlockSteps), true
		}
	}
	law.steps = s.settings.Steps
	set.Score, errs[1] = word("score", o.Score, scores...)
	law.score = set.Score
	if law.block > 0 {
		set.Reach = cmp.Or(o.Reach, "before")
	}
	law.begin, errs[2] = draw.IDs("begin-suppress-tokens", o.BeginSuppressTokens, c.Columns)
	s.law = law
	chosenByToken := law.score == ScoreConfidence || law.score == ScoreMaskGIT
	law.byToken = chosenByToken && s.settings.AtTemperature() != 0
	s.settings.ChangesLaw = s.settings.ChangesLaw || chosenByToken || law.raw || law.editing > 0
	return fault.Join("samplers", errs[:]...)
}
