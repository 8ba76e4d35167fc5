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
	{Name: "guidance", Default: "none", Help: "use logits (1+`W`)·conditional − W·unconditional", Flag: true, Least: -1, Most: MaxGuidance},
	{Name: "unconditional", Words: []string{"visible", "prompt"}, Default: "visible", Help: "mask `WHAT` for guidance: visible (all given positions) or prompt"},
	{Name: "keep-tokens", Lists: true, Default: "none", Help: "keep the ids of `LIST` visible under guidance"},
	{Name: "prompt-length", Default: "up to the first mask", Help: "take the first `N` positions as the prompt; blocks begin after it", Most: math.MaxInt32, Whole: true},
	{Name: "min-length", Default: "none", Help: "never draw --stop at the first `N` free positions; changes the distribution", Least: 1, Most: math.MaxInt32, Whole: true},
	{Name: "stop", Help: "end after a block with token `ID` (in generate, or its text); pad with it", Flag: true, Most: math.MaxInt32, Whole: true},
	{Name: "negative-tokens", Lists: true, Default: "none", Help: "replace the prompt with the ids of `LIST` on the unconditional canvas"},
	{Name: "bad-words-ids", Lists: true, Default: "none", Help: "never write the sequences of `LIST`: ids separated by blanks, sequences by commas; changes the distribution", Unscored: true},
	{Name: "max-length", Default: "no growth", Help: "append blocks of --block-length until --stop is drawn, up to `N` positions", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true},
	{Name: "correct", Lists: true, Default: "none", Help: "correct the sample by `HOW`: gibbs:MxN masks and redraws M positions in each of N calls", Unscored: true},
}
