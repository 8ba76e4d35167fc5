package samplers

import (
	"errors"
	"fmt"
)

// growing is the law of a sampler whose canvas grows: when it is filled and no end was drawn, a
// block of masks is appended and filled as a canvas of its own would be, whose other positions are
// given. The rows of a canvas that has not grown yet know nothing of positions to come, unlike
// those of masks that stand there from the start.
type growing struct {
	unplanned
	inner             *Sampler
	block, most, stop int
}

// grow is s on canvases that grow.
func (s *Sampler) grow(o Options) *Sampler {
	law := growing{inner: s, block: o.BlockLength, most: o.MaxLength, stop: -1}
	set := s.settings
	set.BlockLength, set.Stop, set.MaxLength = o.BlockLength, o.Stop, o.MaxLength
	if o.Stop != nil {
		law.stop = *o.Stop
	}
	return &Sampler{law: law, kernel: law, settings: set}
}

func (growing) declare() Law { return Law{Why: "its canvas grows by what is drawn"} }

func (law growing) head(Draw) Head { return law.inner.head() }

func (law growing) start(c *Canvas, d *Draws, free []int, _ bool) (Decoder, error) {
	switch {
	case c.Len() > law.most:
		return nil, fmt.Errorf("the canvas has %d positions and max-length is %d: raise max-length, or begin with a shorter canvas", c.Len(), law.most)
	case len(free) == 0 || free[len(free)-1] != c.Len()-1:
		return nil, errors.New("the canvas ends with what is given, and cannot grow: leave max-length out, or what stands at the end")
	}
	g := &grown{law: law, canvas: c, draws: d, free: free}
	return g, g.prepare(nil)
}

func (law growing) mostCalls(c Spec, d, length int) int {
	parts := max(law.most-length+law.block-1, 0) / law.block
	return law.inner.mostCalls(c, d, length) + parts*law.inner.mostCalls(c, law.block, law.most)
}

// grown is the decoder of a sequence. It has the inner decoder ask as soon as that has taken its
// rows, to know when the canvas must grow.
type grown struct {
	law    growing
	canvas *Canvas
	draws  *Draws
	inner  Decoder
	// free are the positions that the inner decoder fills.
	free []int
	ask  Ask
	more bool
	tally
}

// prepare has the inner decoder ask, or the one of the next block. e is nil at the start.
func (g *grown) prepare(e *Edit) (err error) {
	for {
		if g.inner == nil {
			if g.inner, err = g.law.inner.on(g.canvas, g.draws, append([]int(nil), g.free...)); err != nil {
				return err
			}
		}
		g.ask = Ask{Rows: g.ask.Rows[:0]}
		if g.more = g.inner.Ask(&g.ask); g.more {
			return nil
		}
		g.release()
		n := g.canvas.Len()
		if e == nil || n == g.law.most || g.ended() {
			return nil
		}
		e.Grow(min(g.law.block, g.law.most-n))
		g.free = g.free[:0]
		for l := n; l < g.canvas.Len(); l++ {
			g.free = append(g.free, l)
		}
	}
}

// ended says that the end was drawn.
func (g *grown) ended() bool {
	for _, l := range g.free {
		if g.canvas.ID(l) == g.law.stop {
			return true
		}
	}
	return false
}

func (g *grown) Ask(a *Ask) bool {
	rows := append(a.Rows, g.ask.Rows...)
	*a = g.ask
	a.Rows = rows
	return g.more
}

func (g *grown) Take(r Rows, e *Edit) error {
	if err := g.inner.Take(r, e); err != nil {
		return err
	}
	return g.prepare(e)
}

// release counts what the inner decoder did, and gives back its memory.
func (g *grown) release() {
	if g.inner != nil {
		g.add(g.inner)
		releaseOf(g.inner)
	}
	g.inner = nil
}
