package layer

import (
	"math"

	"mdmgen/samplers"
)

// Options change the distributions that tokens of any sampler are drawn from, or the canvas while
// it is filled. The zero value changes nothing.
type Options struct {
	// BlockLength fills blocks of that many positions one after the other; 0 is one block of the
	// whole canvas. PromptLength is the start of the first block; nil is the first mask.
	BlockLength  int  `json:"block_length,omitempty"`
	PromptLength *int `json:"prompt_length,omitempty"`
	// Stop is the token that ends a sequence when a finished block contains it; nil is none.
	Stop *int `json:"stop,omitempty"`
	// Guidance is w in (1+w)·conditional − w·unconditional logits; 0 is no guidance. Unconditional
	// is the part that the unconditional canvas masks: "visible", the positions visible at the
	// start, or "prompt", those of the prompt; "" is visible.
	Guidance      float64 `json:"guidance,omitempty"`
	Unconditional string  `json:"unconditional,omitempty"`
	// KeepTokens is a list of ids that stay visible on the unconditional canvas.
	KeepTokens string `json:"keep_tokens,omitempty"`
	// NegativeTokens is a list of ids that replace the end of the prompt on the unconditional canvas.
	NegativeTokens string `json:"negative_tokens,omitempty"`
	// BadWordsIDs lists sequences of tokens that must not occur: ids separated by blanks, and
	// sequences separated by commas.
	BadWordsIDs string `json:"bad_words_ids,omitempty"`
	// MinLength is the number of free positions, from the first, that cannot have the token Stop; 0
	// is none.
	MinLength int `json:"min_length,omitempty"`
	// MaxLength makes the canvas grow, by blocks of BlockLength up to MaxLength positions, until
	// Stop is drawn; 0 does not.
	MaxLength int `json:"max_length,omitempty"`
	// Correct is "gibbs:MxN": N calls after the last mask M originally free positions each and draw
	// them anew; "" is none.
	Correct string `json:"correct,omitempty"`
}

// Prompt returns the start of the first block, −1 for the first mask.
func (o Options) Prompt() int { return samplers.ValueOr(o.PromptLength, -1) }

// End returns the token that ends a sequence, −1 for none.
func (o Options) End() int { return samplers.ValueOr(o.Stop, -1) }

// List returns the options, bound to the fields of o.
func (o *Options) List() []samplers.Option {
	return []samplers.Option{
		{Field: &o.BlockLength, Name: "block-length", Default: "one block", Help: "fill blocks of `N` positions one after the other", Flag: true, Least: 1, Most: math.MaxInt32, Whole: true},
		{Field: &o.Guidance, Name: "guidance", Default: "none", Help: "use logits (1+`W`)·conditional − W·unconditional", Flag: true, Least: -1, Most: MaxGuidance},
		{Field: &o.Unconditional, Name: "unconditional", Words: []string{"visible", "prompt"}, Default: "visible", Help: "mask `WHAT` for guidance: visible (all positions without MASK) or prompt"},
		{Field: &o.KeepTokens, Name: "keep-tokens", Lists: true, Default: "none", Help: "keep the ids of `LIST` visible under guidance"},
		{Field: &o.PromptLength, Name: "prompt-length", Default: "up to the first mask", Help: "take the first `N` positions as the prompt; blocks begin after it", Most: math.MaxInt32, Whole: true},
		{Field: &o.MinLength, Name: "min-length", Default: "none", Help: "never draw the stop token at the first `N` free positions; changes the distribution", Least: 1, Most: math.MaxInt32, Whole: true},
		{Field: &o.Stop, Name: "stop", Help: "end after a block with token `ID` (in generate, or its text); pad with it", Flag: true, Most: math.MaxInt32, Whole: true},
		{Field: &o.NegativeTokens, Name: "negative-tokens", Lists: true, Default: "none", Help: "replace the prompt with the ids of `LIST` on the unconditional canvas"},
		{Field: &o.BadWordsIDs, Name: "bad-words-ids", Lists: true, Default: "none", Help: "never write the sequences of `LIST`: ids separated by blanks, sequences by commas; changes the distribution", Unscored: true},
		{Field: &o.MaxLength, Name: "max-length", Default: "no growth", Help: "append blocks of block-length until the stop token is drawn, up to `N` positions", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true},
		{Field: &o.Correct, Name: "correct", Lists: true, Default: "none", Help: "correct the sample by `HOW`: gibbs:MxN masks and redraws M positions in each of N calls", Unscored: true},
	}
}
