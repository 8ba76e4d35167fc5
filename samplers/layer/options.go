package layer

import (
	"math"

	"mdmgen/samplers"
)

// Options change the distributions that tokens of any sampler are drawn from, or the canvas while
// it is filled. The zero value changes nothing.
type Options struct {
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
}

// OptionList describes the options of all layers.
var OptionList = []samplers.Option{
	{Name: "block-length", Default: "one block", Help: "fill blocks of `N` positions one after the other", Flag: true, Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "guidance", Default: "none", Help: "logits are (1+`W`)·conditional − W·unconditional", Flag: true, Least: -1, Most: MostGuidance},
	{Name: "unconditional", Words: []string{"visible", "prompt"}, Default: "visible", Help: "`WHAT` guidance masks: what was visible at the start, or the prompt's positions"},
	{Name: "keep-tokens", Lists: true, Default: "none", Help: "`LIST` of ids that guidance does not mask"},
	{Name: "prompt-length", Default: "up to the first mask", Help: "the first `N` positions are the prompt: blocks begin behind it", Most: math.MaxInt32, Whole: true},
	{Name: "min-length", Default: "none", Help: "never draw --stop at the first `N` free positions; changes the distribution", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "stop", Help: "end where a finished block holds the token `ID`, for generate also its text, and pad with it", Flag: true, Most: math.MaxInt32, Whole: true},
	{Name: "negative-tokens", Lists: true, Default: "none", Help: "`LIST` of ids that stand in the prompt's place on the unconditional canvas"},
	{Name: "bad-words-ids", Lists: true, Default: "none", Help: "`LIST` of sequences of ids that do not come about: ids with blanks between them, sequences with commas; changes the distribution", Unscored: true},
	{Name: "max-length", Default: "no growth", Help: "append blocks of --block-length while --stop was not drawn, up to `N` positions", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true},
	{Name: "correct", Lists: true, Default: "none", Help: "mask M positions anew in each of N further calls, and draw them again: gibbs:MxN, `HOW`", Unscored: true},
}
