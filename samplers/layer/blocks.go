package layer

import (
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Window is the block of positions that is being filled, when blocks are filled one after another.
type Window struct {
	// The block is From..To, To excluded.
	From, To int
	Canvas   *samplers.Canvas
	// Given reports which positions were visible at the start. Blocks of length positions begin
	// after the prompt; with length 0 the whole canvas is one block.
	Given          []bool
	prompt, length int
	// stop is the token that ends the sequence after a finished block, −1 for none.
	stop int
	// alone reports whether the part that is being filled is the block's first position.
	alone bool
}

// NewWindow returns the first block. prompt −1 is the part before the first mask.
func NewWindow(c *samplers.Canvas, length, prompt, stop int) (Window, error) {
	w := Window{To: c.Len(), Canvas: c, length: length, prompt: prompt, stop: stop}
	for l := range c.Len() {
		w.Given = append(w.Given, !c.IsMasked(l))
		if w.prompt < 0 && !w.Given[l] {
			w.prompt = l
		}
	}
	if c.Grown() { // After growth, everything before the first mask counts as prompt.
		w.prompt = slices.Index(w.Given, false)
	}
	if w.prompt = max(w.prompt, 0); w.prompt > c.Len() {
		return w, fmt.Errorf("the prompt has %d positions, but the canvas has %d: lower prompt-length", w.prompt, c.Len())
	}
	if length > 0 {
		w.From, w.To = w.prompt, w.prompt
		w.Next()
	}
	return w, nil
}

// Next moves to the next block. It returns false after the last.
func (w *Window) Next() bool {
	if w.To == w.Canvas.Len() {
		return false
	}
	w.From, w.To = w.To, min(w.To+w.length, w.Canvas.Len())
	return true
}

// Blocks returns the number of blocks, for a block-causal network from the one with the first mask on.
func (w *Window) Blocks() int {
	n := BlocksOf(w.Canvas.Len()-w.prompt, w.length)
	if first := slices.Index(w.Given, false); first > 0 && w.Canvas.Spec().Grid() > 0 {
		n -= first / w.length
	}
	return n
}

// Halt ends the sequence if the block is finished and contains the stop token at a position that
// was not given: it fills the rest with that token. In a network with causal rows no mask before the
// token is enough, as published.
func (w *Window) Halt(e *samplers.Edit) {
	stopped := false
	for l := w.From; l < w.To && !(stopped && w.Canvas.Spec().Causal); l++ {
		if w.Canvas.IsMasked(l) {
			return
		}
		stopped = stopped || !w.Given[l] && w.Canvas.ID(l) == w.stop
	}
	for l := w.From; stopped && l < w.Canvas.Len(); l++ {
		if w.Canvas.IsMasked(l) {
			e.Set(l, w.stop, 0)
		}
	}
}

// blocks is a kernel that fills blocks one after another, each like a canvas whose other masks are
// not its own: semi-autoregressive sampling. Masks outside the block appear as masks.
type blocks struct {
	samplers.Kernel
	length, prompt, stop int
}

// Blocks returns k in blocks of length positions, filled one after another. The first begins after
// prompt positions; −1 is the part before the first mask. stop is the token that ends the sequence
// after a finished block, −1 for none.
func Blocks(k samplers.Kernel, length, prompt, stop int) samplers.Kernel {
	return blocks{k, length, prompt, stop}
}

func (blocks) Law() samplers.Law {
	return samplers.Unknown{Why: "blocks are filled one after the other, each as a canvas of its own"}
}

func (k blocks) Fill(c *samplers.Canvas, d *draw.Numbers, _ []int) (samplers.Decoder, error) {
	w, err := NewWindow(c, k.length, k.prompt, k.stop)
	if err != nil {
		return nil, err
	}
	return startParts(k.Kernel, c, d, &w)
}

func (k blocks) MostCalls(c samplers.Spec, d, length int) int {
	if samplers.Is[samplers.Planned](k.Kernel.Law()) {
		return d
	}
	parts := BlocksOf(length, k.length)
	if c.Causal || c.Shift && c.Grid() > 0 {
		parts *= 2 // FirstAlone
	}
	return parts * k.Kernel.MostCalls(c, d, length)
}

// FirstAlone reports whether the block's first position is masked and is filled before all others, by
// the last row of the previous block, which a block-causal network has finished, or by the causal row
// before it. If so the canvas's block becomes the empty one there.
func (w *Window) FirstAlone() bool {
	spec, size := w.Canvas.Spec(), w.Canvas.Spec().Grid()
	before := spec.Causal && w.From > 0 || spec.Shift && size > 0 && w.From%size == 0
	if before = before && w.From < w.To && w.Canvas.IsMasked(w.From); before {
		w.Canvas.SetBlock(samplers.Span{From: w.From, To: w.From})
	}
	return before
}

// Enter makes the block the canvas's.
func (w *Window) Enter() { w.Canvas.SetBlock(samplers.Span{From: w.From, To: w.To}) }

func (w *Window) free() (out []int) {
	if w.alone = !w.alone && w.FirstAlone(); w.alone {
		return []int{w.From}
	}
	w.Enter()
	for l := w.From; l < w.To; l++ {
		if w.Canvas.IsMasked(l) {
			out = append(out, l)
		}
	}
	return out
}

func (w *Window) behind(e *samplers.Edit) bool {
	if e != nil {
		w.Halt(e)
	}
	return w.alone || w.Next()
}

// BlocksOf returns the greatest number of blocks of block positions in a canvas; block 0 is one block.
func BlocksOf(length, block int) int {
	if block == 0 {
		return 1
	}
	return max((length+block-1)/block, 1)
}
