package samplers

import (
	"fmt"
	"slices"

	"mdmgen/samplers/draw"
)

// window is the block of positions that is being filled, where blocks are filled one after the
// other.
type window struct {
	span
	canvas *Canvas
	// given says which positions were visible at the start; blocks of so many positions begin
	// behind the prompt, and the whole canvas is one where length is 0.
	given          []bool
	prompt, length int
	// stop is the token that ends the sequence behind a finished block, −1 for none.
	stop int
}

// newWindow is the first block; prompt is −1 for what is before the first mask.
func newWindow(c *Canvas, length, prompt, stop int) (window, error) {
	w := window{span: span{0, c.Len()}, canvas: c, length: length, prompt: prompt, stop: stop}
	for l := range c.Len() {
		w.given = append(w.given, !c.masked(l))
		if w.prompt < 0 && !w.given[l] {
			w.prompt = l
		}
	}
	if c.grown { // and what was filled before is no block any more
		w.prompt = slices.Index(w.given, false)
	}
	if w.prompt = max(w.prompt, 0); w.prompt > c.Len() {
		return w, fmt.Errorf("the prompt has %d positions, the canvas %d: lower prompt-length", w.prompt, c.Len())
	}
	if length > 0 {
		w.from, w.to = w.prompt, w.prompt
		w.next()
	}
	return w, nil
}

// next goes to the next block, and is false behind the last.
func (w *window) next() bool {
	if w.to == w.canvas.Len() {
		return false
	}
	w.from, w.to = w.to, min(w.to+w.length, w.canvas.Len())
	return true
}

// blocks is how many there are.
func (w *window) blocks() int {
	return blocksOf(w.canvas.Len()-w.prompt, w.length)
}

// halt ends the sequence where the block is finished and holds the stop token that was not
// given: the rest is filled with it.
func (w *window) halt(e *Edit) {
	stopped := false
	for l := w.from; l < w.to; l++ {
		if w.canvas.masked(l) {
			return
		}
		stopped = stopped || !w.given[l] && w.canvas.ID(l) == w.stop
	}
	if stopped {
		for _, l := range w.canvas.maskedOf(nil, span{w.to, w.canvas.Len()}) {
			e.Set(l, w.stop, 0)
		}
	}
}

// windows is the law of a sampler that fills blocks one after the other, each as it would fill
// a canvas whose other masks are none of its own: semi-autoregressive sampling. Masks outside
// the block are seen as masks.
type windows struct {
	unplanned
	inner                *Sampler
	length, prompt, stop int
}

// inWindows is s in blocks, one after the other.
func (s *Sampler) inWindows(o Options) *Sampler {
	law := windows{inner: s, length: o.BlockLength, prompt: or(o.PromptLength, -1), stop: or(o.Stop, -1)}
	set := s.settings
	set.BlockLength, set.PromptLength, set.Stop = o.BlockLength, o.PromptLength, o.Stop
	return &Sampler{law: law, settings: set}
}

func (windows) declare() Law {
	return Law{Why: "blocks are filled one after the other, each as a canvas of its own"}
}

func (law windows) head(draw.Draw) Head { return law.inner.head() }

func (law windows) start(c *Canvas, d *draw.Draws, _ []int, _ bool) (Decoder, error) {
	w, err := newWindow(c, law.length, law.prompt, law.stop)
	if err != nil {
		return nil, err
	}
	return startParts(law.inner, c, d, &w)
}

func (w *window) free() []int { return w.canvas.maskedOf(nil, w.span) }

func (w *window) behind(e *Edit) bool {
	if e != nil {
		w.halt(e)
	}
	return w.next()
}

func (law windows) mostCalls(c Spec, d, length int) int {
	if law.inner.Planned() {
		return d
	}
	return blocksOf(length, law.length) * law.inner.mostCalls(c, d, length)
}

// blocksOf is the number of blocks of so many positions, the greatest there may be of a canvas.
func blocksOf(length, block int) int {
	if block == 0 {
		return 1
	}
	return max((length+block-1)/block, 1)
}
