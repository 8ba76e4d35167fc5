package samplers

import (
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers/draw"
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
	law := growing{inner: s, block: o.BlockLength, most: o.MaxLength, stop: or(o.Stop, -1)}
	set := s.settings
	set.BlockLength, set.Stop, set.MaxLength = o.BlockLength, o.Stop, o.MaxLength
	return &Sampler{law: law, settings: set}
}

func (growing) declare() Law { return Law{Why: "its canvas grows by what is drawn"} }

func (law growing) head(draw.Draw) Head { return law.inner.head() }

func (law growing) start(c *Canvas, d *draw.Draws, free []int, _ bool) (Decoder, error) {
	switch {
	case c.Len() > law.most:
		return nil, fmt.Errorf("the canvas has %d positions and max-length is %d: raise max-length, or begin with a shorter canvas", c.Len(), law.most)
	case len(free) == 0 || free[len(free)-1] != c.Len()-1:
		return nil, errors.New("the canvas ends with what is given, and cannot grow: leave max-length out, or what stands at the end")
	}
	return startParts(law.inner, c, d, &grown{law: law, canvas: c, last: free})
}

func (law growing) mostCalls(c Spec, d, length int) int {
	parts := max(law.most-length+law.block-1, 0) / law.block
	return law.inner.mostCalls(c, d, length) + parts*law.inner.mostCalls(c, law.block, law.most)
}

// grown are the parts of a canvas that grows.
type grown struct {
	law    growing
	canvas *Canvas
	// last are the positions of the last part.
	last []int
}

func (g *grown) free() []int { return slices.Clone(g.last) }

func (g *grown) behind(e *Edit) bool {
	n := g.canvas.Len()
	ended := func(l int) bool { return g.canvas.ID(l) == g.law.stop }
	if e == nil || n == g.law.most || slices.ContainsFunc(g.last, ended) {
		return false
	}
	e.Grow(min(g.law.block, g.law.most-n))
	g.last = g.last[:0]
	for l := n; l < g.canvas.Len(); l++ {
		g.last = append(g.last, l)
	}
	return true
}
