package samplers

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// guidance mixes rows with those of a second canvas.
type guidance struct {
	w float64
	// byPosition hides the prompt of so many positions, −1 for what is before the first mask,
	// and not what is visible; keep are tokens that it does not hide, and negative stand in the
	// place of the last tokens before the first mask.
	byPosition bool
	prompt     int
	keep       []int
	negative   []int
}

// newGuidance reads the options, and sets what is in force; nil for none.
func newGuidance(o Options, c Spec, set *Settings) (*guidance, error) {
	if !o.guided() {
		return nil, nil
	}
	g := &guidance{w: o.Guidance, byPosition: o.Unconditional == "prompt", prompt: or(o.PromptLength, -1)}
	if o.GuidanceScale != 0 {
		g.w = o.GuidanceScale - 1
	}
	var errs [2]error
	g.keep, errs[0] = draw.IDs("keep-tokens", o.KeepTokens, c.Columns)
	g.negative, errs[1] = draw.IDs("negative-tokens", o.NegativeTokens, c.Columns)
	set.Unconditional = cmp.Or(o.Unconditional, "visible")
	set.Guidance, set.GuidanceScale, set.KeepTokens, set.NegativeTokens = o.Guidance, o.GuidanceScale, o.KeepTokens, o.NegativeTokens
	if g.byPosition {
		set.PromptLength = o.PromptLength
	}
	return g, fault.Join("samplers", errs[:]...)
}

// hide is what the second canvas holds, −1 where it is as the first, of which some is masked.
func (g *guidance) hide(c *Canvas) ([]int64, error) {
	prompt, first := g.prompt, c.Masked(nil)[0]
	if prompt < 0 {
		prompt = first
	}
	hidden := slices.Repeat([]int64{-1}, c.Len())
	for l := range c.Len() {
		if (g.byPosition && l < prompt || !g.byPosition && !c.masked(l)) && !slices.Contains(g.keep, c.ID(l)) {
			hidden[l] = int64(c.spec.Mask)
		}
	}
	if prompt > c.Len() {
		return nil, fmt.Errorf("the prompt has %d positions, the canvas %d: lower prompt-length", prompt, c.Len())
	}
	at := first - len(g.negative)
	if at < 0 {
		return nil, fmt.Errorf("the negative prompt is longer than the prompt, in whose place it stands, by tokens %d to %d: shorten it, or give a longer prompt", len(g.negative), first)
	}
	for i, id := range g.negative {
		hidden[at+i] = int64(id)
	}
	return hidden, nil
}

// guide makes the logits of a row (1+w)·row − w·second.
func (g *guidance) guide(row, second []float32) {
	for a, u := range second {
		if x := row[a]; x != u { // both may be −Inf
			row[a] = float32(float64(u) + (g.w+1)*(float64(x)-float64(u)))
		}
	}
}
