package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mdmgen/samplers/catalog"
)

// group is a list of cells that share one study.
type group[S any] struct {
	cells []*Cell
	// at maps the key of a law to an index in cells.
	at map[string]int
	// study is nil until it is made.
	study *S
}

// studies holds the studies of groups of cells.
type studies[S any] struct {
	// Notes name the cells omitted, with the reasons.
	Notes  []string
	groups []*group[S]
}

// newStudies groups cells for which alike returns true, each law once, by its key. A cell for which
// refuse returns a reason is omitted, and one note per reason names these cells.
func newStudies[S any](cells []Cell, refuse func(*Cell) string, note func(names []string, why string) string, alike func(a, b *Cell) bool) (out studies[S]) {
	var reasons []string
	refused := make(map[string][]string)
	for i := range cells {
		c := &cells[i]
		if why := refuse(c); why != "" {
			if refused[why] == nil {
				reasons = append(reasons, why)
			}
			refused[why] = append(refused[why], c.ID)
			continue
		}
		at := slices.IndexFunc(out.groups, func(g *group[S]) bool { return alike(g.cells[0], c) })
		if at < 0 {
			at = len(out.groups)
			out.groups = append(out.groups, &group[S]{at: make(map[string]int)})
		}
		g := out.groups[at]
		if _, ok := g.at[c.lawKey()]; !ok {
			g.at[c.lawKey()] = len(g.cells)
			g.cells = append(g.cells, c)
		}
	}
	for _, why := range reasons {
		out.Notes = append(out.Notes, note(refused[why], why))
	}
	return out
}

// Work returns the total number of samples or runs, n for each group.
func (s *studies[S]) Work(n int) int { return len(s.groups) * n }

// each makes studies group by group, each with an equal share of the context's time. If the context
// ends first, finished samples are kept, and numbers come from fewer samples.
func (s *studies[S]) each(ctx context.Context, study func(ctx context.Context, i int, g *group[S]) (*S, error)) (err error) {
	for i, g := range s.groups {
		ctx, cancel := Share(ctx, len(s.groups)-i)
		g.study, err = study(ctx, i, g)
		late := ctx.Err() != nil
		cancel()
		if err != nil && !late {
			return err
		}
	}
	return nil
}

// of returns the study of a cell and the cell's index in it.
func (s *studies[S]) of(c *Cell) (*S, int, bool) {
	for _, g := range s.groups {
		if i, ok := g.at[c.lawKey()]; ok && g.study != nil {
			return g.study, i, true
		}
	}
	return nil, 0, false
}

// samplers returns the samplers of the cells.
func (g *group[S]) samplers() (out []*catalog.Sampler) {
	for _, c := range g.cells {
		out = append(out, c.Sampler)
	}
	return out
}

// sameDraw reports whether two cells draw tokens alike.
func sameDraw(a, b *Cell) bool { return a.Sampler.Settings().Draw.Same(b.Sampler.Settings().Draw) }

// Share returns the context of the first of n jobs that share the remaining time equally.
func Share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}

// maxNamed is the number of names that a note lists.
const maxNamed = 3

// Named joins the first few names and the number of the others.
func Named(names []string, between string) string {
	out := strings.Join(names[:min(len(names), maxNamed)], between)
	if more := len(names) - maxNamed; more > 0 {
		out += fmt.Sprintf("%sand %d more", between, more)
	}
	return out
}
