package layer

import (
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// growing is a kernel whose canvas grows: when it is filled and no end was drawn, a block of masks
// is appended and filled like a canvas whose other positions are given. Unlike rows with masks from
// the start, the rows before a canvas grows do not depend on positions to come.
type growing struct {
	samplers.Kernel
	block, most, stop int
}

// Grow returns k on canvases that grow by blocks up to most positions, until the token stop is drawn.
func Grow(k samplers.Kernel, block, most, stop int) samplers.Kernel {
	return growing{k, block, most, stop}
}

func (growing) Law() samplers.Law {
	return samplers.Unknown{Why: "the growth of its canvas depends on the tokens drawn"}
}

func (k growing) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	switch {
	case c.Len() > k.most:
		return nil, fmt.Errorf("the canvas has %d positions and max-length is %d: raise max-length, or begin with a shorter canvas", c.Len(), k.most)
	case len(free) == 0 || free[len(free)-1] != c.Len()-1:
		return nil, errors.New("the canvas ends with given tokens and cannot grow: leave out max-length, or the given end")
	}
	return startParts(k.Kernel, c, d, &grown{growing: k, canvas: c, last: free})
}

func (k growing) MostCalls(c samplers.Spec, d, length int) int {
	parts := max(k.most-length+k.block-1, 0) / k.block
	return k.Kernel.MostCalls(c, d, length) + parts*k.Kernel.MostCalls(c, k.block, k.most)
}

// grown holds the parts of a canvas that grows.
type grown struct {
	growing growing
	canvas  *samplers.Canvas
	// last lists the positions of the last part.
	last []int
}

func (g *grown) free() []int { return slices.Clone(g.last) }

func (g *grown) behind(e *samplers.Edit) bool {
	n := g.canvas.Len()
	ended := func(l int) bool { return g.canvas.ID(l) == g.growing.stop }
	if e == nil || n == g.growing.most || slices.ContainsFunc(g.last, ended) {
		return false
	}
	e.Grow(min(g.growing.block, g.growing.most-n))
	g.last = g.last[:0]
	for l := n; l < g.canvas.Len(); l++ {
		g.last = append(g.last, l)
	}
	return true
}
