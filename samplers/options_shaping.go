package samplers

import (
	"fmt"
	"math"
)

// Shaping are options of all samplers that change what tokens are drawn from ([rules], guidance)
// or the canvas while it is filled. The zero value gives none. Those of guidance that LLaDA has,
// too, are among [Deciding].
type Shaping struct {
	// GuidanceScale is γ of γ·conditional + (1−γ)·unconditional logits: 1 + Guidance, in whose
	// place it stands; 0 is none.
	GuidanceScale float64 `json:"guidance_scale,omitempty"`
	// NegativeTokens stand on the unconditional canvas, where the prompt ends, in its place: a
	// list of ids.
	NegativeTokens string `json:"negative_tokens,omitempty"`
	// BadWordsIDs are sequences of tokens that do not come about: ids with blanks between them,
	// and commas between sequences.
	BadWordsIDs string `json:"bad_words_ids,omitempty"`
	// MinLength is how many of the free positions, from the first on, cannot have the token
	// Stop; 0 is none.
	MinLength int `json:"min_length,omitempty"`
	// MaxLength has the canvas grow, by blocks of BlockLength up to so many positions, until
	// Stop is drawn; 0 leaves it as it is.
	MaxLength int `json:"max_length,omitempty"`
}

// mostGuidance keeps guided logits within float32.
const mostGuidance = 1e6

var shapingOptions = []Option{
	{Name: "guidance-scale", Default: "none", Help: "logits are `G`·conditional + (1−G)·unconditional: --guidance G−1 under its other name, and below 1 a mean of both; changes the distribution", Least: aboveZero, Most: mostGuidance, field: func(o *Options) any { return &o.GuidanceScale }},
	{Name: "negative-tokens", Lists: true, Default: "none", Help: "`LIST` of ids that stand in the prompt's place on the unconditional canvas", field: func(o *Options) any { return &o.NegativeTokens }},
	{Name: "bad-words-ids", Lists: true, Default: "none", Help: "`LIST` of sequences of ids that do not come about: ids with blanks between them, sequences with commas; changes the distribution", Unscored: true, field: func(o *Options) any { return &o.BadWordsIDs }},
	{Name: "max-length", Default: "no growth", Help: "append blocks of --block-length while --stop was not drawn, up to `N` positions", Least: 1, Most: math.MaxInt32, Whole: true, Unscored: true, field: func(o *Options) any { return &o.MaxLength }},
}

// guided says that there is guidance.
func (o Options) guided() bool { return o.Guidance != 0 || o.GuidanceScale != 0 }

// unusedShaping tells of options that others exclude, or do without.
func (o Options) unusedShaping(drop func(beside string, names ...string)) {
	if !o.guided() {
		drop("without guidance", "unconditional", "keep-tokens", "negative-tokens")
	}
	if o.Guidance != 0 {
		drop(fmt.Sprintf("guidance %v", o.Guidance), "guidance-scale")
	}
}
