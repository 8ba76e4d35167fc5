package rank

import (
	"math"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/schedule"
)

// Options are the options of decoders that rank positions. The zero value selects the defaults.
type Options struct {
	// Score orders the candidates; "" is confidence, or entropy for entropy-bounded.
	Score RankBy `json:"score,omitempty"`
	// Rule determines how many tokens each call reveals: that of LLaDA, Dream or dLLM. "" is llada
	// for confidence, llada2 and factor, and no rule for threshold, which then has no quotas.
	Rule schedule.Rounding `json:"rule,omitempty"`
	// Schedule is dLLM's α, "linear" or "cosine"; "" is linear. Transfer is "rounded", or
	// "binomial" for dLLM's random quotas; "" is rounded. Eps is Dream's ε; 0 is 0.001.
	Schedule string  `json:"schedule,omitempty"`
	Transfer string  `json:"transfer,omitempty"`
	Eps      float64 `json:"eps,omitempty"`
	// AlgTemp draws positions in proportion to e^(score/AlgTemp); 0 selects the best.
	AlgTemp float64 `json:"alg_temp,omitempty"`
	// Threshold is the sufficient score; 0 is 0.9, or 0.95 for llada2. Factor is that of the
	// sampler factor; 0 is 1. RelaxedThreshold and Radius are those of localleap; 0 is 0.75 and 4.
	// Gamma is that of entropy-bounded, in nats; nil is 0.1.
	Threshold        float64  `json:"threshold,omitempty"`
	Factor           float64  `json:"factor,omitempty"`
	RelaxedThreshold float64  `json:"relaxed_threshold,omitempty"`
	Radius           int      `json:"radius,omitempty"`
	Gamma            *float64 `json:"gamma,omitempty"`
	// KLThreshold and History are those of klass: the divergence in nats below which a row is
	// stable, and the number of calls for which it must be; 0 is 0.01 and 2.
	KLThreshold float64 `json:"kl_threshold,omitempty"`
	History     int     `json:"history,omitempty"`
	// EditingThreshold is the probability above which llada2 replaces tokens; 0 replaces none.
	// AtLeast is the least number of tokens that it commits in a call, instead of a quota; 0 is the
	// quota, and 1 with edits. PostSteps is its number of calls without masks; 0 is 16.
	EditingThreshold float64 `json:"editing_threshold,omitempty"`
	AtLeast          int     `json:"at_least,omitempty"`
	PostSteps        int     `json:"post_steps,omitempty"`
	// Reach is "before" if masks before the block are candidates too, or "inside"; "" is before.
	Reach string `json:"reach,omitempty"`
	// BeginSuppressTokens is a list of ids that have confidence 0 and do not count in that of others.
	BeginSuppressTokens string `json:"begin_suppress_tokens,omitempty"`
	// OutsideKept makes calls about a block, except its first, compute the block without the positions
	// before it; candidates are then inside. In a network that predicts position l from row l−1 the rows
	// of such a call do not predict the block's first position, so the first call reveals it alone.
	OutsideKept bool `json:"-"`
	// Columns is "clean", or "raw" if MASK and padding may be drawn, as in upstream programs; "" is
	// clean.
	Columns string `json:"columns,omitempty"`
}

// defaultThreshold is that of Fast-dLLM's evaluation, and of LocalLeap.
const defaultThreshold = 0.9

// rankFlags lists the options of all decoders that rank positions.
var rankFlags = []string{"score", "reach", "begin-suppress-tokens"}

// thresholds lists the scores to which a threshold can apply.
var thresholds = []RankBy{ByConfidence, ByMaskGIT, ByMargin}

// List returns the options, bound to the fields of o.
func (o *Options) List() []samplers.Option {
	return []samplers.Option{
		{Field: &o.Score, Name: "score", Words: []string{"confidence", "maskgit-plus", "margin", "entropy", "random", "leftmost"}, Default: "confidence, entropy for entropy-bounded", Help: "order positions by `SCORE`: confidence, maskgit-plus, margin, entropy, random or leftmost"},
		{Field: &o.Rule, Name: "rule", Words: []string{"llada", "dream", "dllm"}, Default: "llada, none for threshold", Help: "set the number of positions per call by `RULE`: llada, dream or dllm"},
		{Field: &o.EditingThreshold, Name: "editing-threshold", Default: "none", Help: "replace a token in the current block if another has probability above `P`", Least: samplers.AboveZero, Most: 1, Unscored: true},
		{Field: &o.Schedule, Name: "schedule", Words: []string{"linear", "cosine"}, Default: "linear", Help: "with rule=dllm, use `SCHEDULE`: linear or cosine"},
		{Field: &o.Transfer, Name: "transfer", Words: []string{"rounded", "binomial"}, Default: "rounded", Help: "with rule=dllm, make counts whole by `HOW`: rounded or binomial (drawn)"},
		{Field: &o.Reach, Name: "reach", Words: []string{"before", "inside"}, Default: "before", Help: "take candidates from `WHERE`: before (all masks up to the block's end) or inside the block"},
		{Field: &o.Columns, Name: "columns", Words: []string{"clean", "raw"}, Default: "clean", Help: "draw from `COLUMNS`: clean, or raw, which includes mask and padding as upstream programs do"},
		{Field: &o.BeginSuppressTokens, Name: "begin-suppress-tokens", Lists: true, Default: "none", Help: "give the ids of `LIST` confidence 0, and ignore them in the confidence of others"},
		{Field: &o.Eps, Name: "eps", Default: "0.001", Help: "with rule=dream, end time at `X`", Least: samplers.AboveZero, Most: 1},
		{Field: &o.AlgTemp, Name: "alg-temp", Default: "the best first", Help: "draw positions with weights e^(score/`X`)", Least: samplers.AboveZero, Most: math.MaxFloat64},
		{Field: &o.Threshold, Name: "threshold", Default: "the sampler's", Help: "reveal positions with a score of at least `P`", Flag: true, Least: samplers.AboveZero, Most: 1},
		{Field: &o.Factor, Name: "factor", Default: "1", Help: "reveal the r-th best position, r ≥ 2, if its confidence is at least 1 − `F`/(r+1)", Least: samplers.AboveZero, Most: math.MaxFloat64},
		{Field: &o.RelaxedThreshold, Name: "relaxed-threshold", Default: "0.75", Help: "reveal positions near an anchor with a score of at least `P`", Least: samplers.AboveZero, Most: 1},
		{Field: &o.Radius, Name: "radius", Default: "4", Help: "treat positions up to `N` from an anchor (which reaches threshold) as near it", Least: 1, Most: math.MaxInt32, Whole: true},
		{Field: &o.Gamma, Name: "gamma", Default: "0.1", Help: "reveal positions whose entropies, without the greatest, sum to at most `NATS`", Most: math.MaxFloat64},
		{Field: &o.KLThreshold, Name: "kl-threshold", Default: "0.01", Help: "treat a row as stable if its KL from the previous call's row is below `NATS`", Least: samplers.AboveZero, Most: math.MaxFloat64},
		{Field: &o.History, Name: "history", Default: "2", Help: "require rows to be stable for `N` calls", Least: 1, Most: math.MaxInt32, Whole: true},
		{Field: &o.AtLeast, Name: "at-least", Default: "the quota, 1 with editing-threshold", Help: "reveal at least `N` positions a call", Least: 1, Most: math.MaxInt32, Whole: true},
		{Field: &o.PostSteps, Name: "post-steps", Default: "16", Help: "make at most `N` calls that only edit", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true},
	}
}

// Decoder is a sampler that ranks positions.
type Decoder struct {
	samplers.Descriptor
	// read reads the options, sets them to the values in effect, and sets the choice of k.
	read func(o *Options, k *kernel) error
}

// New makes the kernel, in the blocks of around, and sets o and b.Steps to the values in effect.
// changesLaw reports whether tokens are drawn from another distribution than the network's.
func (d Decoder) New(o *Options, around layer.Options, b samplers.Build) (_ samplers.Kernel, changesLaw bool, err error) {
	k := &kernel{steps: *b.Steps, block: around.BlockLength, prompt: around.Prompt(), stop: around.End(), inside: o.Reach == "inside", raw: o.Columns == "raw", outsideKept: o.OutsideKept, temper: o.AlgTemp, editing: o.EditingThreshold, most: b.Lookahead}
	how, c := b.Draw, b.Spec
	var errs [3]error
	errs[0] = d.read(o, k)
	k.wholeBlocks = k.rounding == schedule.RoundLLaDA && c.Grid() > 0
	k.score, *b.Steps = o.Score, k.steps
	if k.block > 0 && o.Reach == "" {
		o.Reach = "before"
	}
	k.begin, errs[1] = draw.IDs("begin-suppress-tokens", o.BeginSuppressTokens, c.Columns)
	errs[2] = k.mayLookAhead(how)
	chosenByToken := k.score == ByConfidence || k.score == ByMaskGIT
	k.byToken = chosenByToken && how.AtTemperature() != 0
	k.firstAlone = c.Causal || c.Shift && c.BlockSize > 0
	return k, chosenByToken || k.raw || k.editing > 0, fault.Join("samplers", errs[:]...)
}

// word checks that value is one of words; "" is the first.
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
