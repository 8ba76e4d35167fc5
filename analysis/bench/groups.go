package bench

import (
	"context"
	"time"

	"mdmgen/samplers/catalog"
)

// group is a list of cells that one study serves.
type group[S any] struct {
	cells []*Cell
	// at is the index in cells of a law.
	at map[string]int
	// study is nil before it is made.
	study *S
}

// groupCells sorts cells into groups of which alike is true, each law once, by its key. Cells
// that refuse returns an error for are left out.
func groupCells[S any](cells []Cell, key func(*Cell) string, refuse func(*Cell) error, alike func(a, b *Cell) bool) (out []*group[S]) {
	for i := range cells {
		c := &cells[i]
		if refuse(c) != nil {
			continue
		}
		var g *group[S]
		for _, x := range out {
			if alike(x.cells[0], c) {
				g = x
			}
		}
		if g == nil {
			g = &group[S]{at: make(map[string]int)}
			out = append(out, g)
		}
		if _, ok := g.at[key(c)]; !ok {
			g.at[key(c)] = len(g.cells)
			g.cells = append(g.cells, c)
		}
	}
	return out
}

// studyOf finds the study of a law and its index there.
func studyOf[S any](groups []*group[S], key string) (*S, int, bool) {
	for _, g := range groups {
		if i, ok := g.at[key]; ok && g.study != nil {
			return g.study, i, true
		}
	}
	return nil, 0, false
}

// samplers are those of the cells.
func (g *group[S]) samplers() (out []*catalog.Sampler) {
	for _, c := range g.cells {
		out = append(out, c.Sampler)
	}
	return out
}

// sameDraw reports whether two cells draw tokens alike.
func sameDraw(a, b *Cell) bool { return a.Sampler.Settings().Draw.Same(b.Sampler.Settings().Draw) }

// Share is the context of the first of n jobs that have equal shares of the time left.
func Share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}
