package layer

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// MaxGuidance keeps guided logits within the range of float32.
const MaxGuidance = 1e6

// Guidance mixes rows with those of a second canvas: (1+W)·row − W·second.
type Guidance struct {
	W float64
	// ByPosition hides the first Prompt positions, or with −1 those before the first mask, instead
	// of all visible positions. Keep lists tokens that are not hidden. Negative replaces the last
	// tokens before the first mask.
	ByPosition     bool
	Prompt         int
	Keep, Negative []int
}

// hide returns the ids of the second canvas, −1 where it equals the first, which must have a mask.
func (g *Guidance) hide(c *samplers.Canvas) ([]int64, error) {
	prompt, first := g.Prompt, c.Masked(nil)[0]
	if prompt < 0 {
		prompt = first
	}
	hidden := slices.Repeat([]int64{-1}, c.Len())
	for l := range c.Len() {
		if (g.ByPosition && l < prompt || !g.ByPosition && !c.IsMasked(l)) && !slices.Contains(g.Keep, c.ID(l)) {
			hidden[l] = int64(c.Spec().Mask)
		}
	}
	if prompt > c.Len() {
		return nil, fmt.Errorf("the prompt has %d positions, but the canvas has %d: lower prompt-length", prompt, c.Len())
	}
	at := first - len(g.Negative)
	if at < 0 {
		return nil, fmt.Errorf("the negative prompt has %d tokens, but the prompt that it replaces has %d: shorten it, or give a longer prompt", len(g.Negative), first)
	}
	for i, id := range g.Negative {
		hidden[at+i] = int64(id)
	}
	return hidden, nil
}

// Guide sets row to (1+w)·row − w·second. Tokens that are impossible in either stay impossible.
func (g *Guidance) Guide(row, second draw.Row) {
	for a := range row.Len() {
		switch x, u := row.At(a), second.At(a); {
		case math.IsInf(u, -1):
			row.Set(a, u)
		case x != u && !math.IsInf(x, -1):
			row.Set(a, u+(g.W+1)*(x-u))
		}
	}
}
