package exact

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
)

// States holds the states from which to continue, ordered by a number that changes in one direction
// along every way. All ways to a state are therefore merged before it is continued.
type States[T any] struct{ at map[int]map[string]*T }

// Add adds a state, or merges it with the state of the same key.
func (s *States[T]) Add(at int, key string, state T, merge func(known *T)) {
	if s.at == nil {
		s.at = make(map[int]map[string]*T)
	}
	if s.at[at] == nil {
		s.at[at] = make(map[string]*T)
	}
	if known := s.at[at][key]; known != nil {
		merge(known)
		return
	}
	s.at[at][key] = &state
}

// Take removes and returns the states of a number, in the order of their keys, so that sums are
// reproducible.
func (s *States[T]) Take(at int) (out []*T) {
	for _, key := range slices.Sorted(maps.Keys(s.at[at])) {
		out = append(out, s.at[at][key])
	}
	delete(s.at, at)
	return out
}

// Empty reports whether no states are left.
func (s *States[T]) Empty() bool { return len(s.at) == 0 }

// Branches are the ways of a decoder D, by its calls or steps.
type Branches[D samplers.Decoder] struct {
	*Walk
	states States[branch[D]]
}

// branch is a decoder in a state, with its probability.
type branch[D samplers.Decoder] struct {
	decoder D
	p       float64
}

// Add adds a state that is reached with probability p, which counts as one more way.
func (b *Branches[D]) Add(at int, key string, decoder D, p float64) error {
	if b.left--; b.left < 0 {
		return errors.New("too many outcomes to enumerate")
	}
	b.states.Add(at, key, branch[D]{decoder, p}, func(known *branch[D]) { known.p += p })
	return b.ctx.Err()
}

// Through visits the states of a kernel's decoder, starting with the first, and calls do to
// continue from each.
func Through[D samplers.Decoder](w *Walk, k samplers.Kernel, c *samplers.Canvas, do func(b *Branches[D], decoder D, p float64) error) error {
	first, err := k.Fill(c, draw.NewNumbers(0, 0), c.Masked(nil))
	if err != nil {
		return err
	}
	b := &Branches[D]{Walk: w}
	b.states.Add(0, "", branch[D]{first.(D), 1}, nil)
	for at := 0; !b.states.Empty(); at++ {
		for _, x := range b.states.Take(at) {
			if err := do(b, x.decoder, x.p); err != nil {
				return err
			}
		}
	}
	return nil
}

// Question is a request of a canvas's decoder outside an engine.
type Question struct {
	Canvas *samplers.Canvas
	// Shape changes the rows; nil does not.
	Shape *layer.Shape
	samplers.Ask
}

// Answers queries the network with all questions in one call.
func Answers(ctx context.Context, net samplers.Network, all []*Question) ([]samplers.Rows, error) {
	var call samplers.Call
	for _, q := range all {
		for i := range q.Rows {
			q.Rows[i].Block = cmp.Or(q.Rows[i].Block, q.Canvas.Block())
		}
		q.Shape.Ask(q.Canvas, &q.Ask)
		for _, r := range q.Rows {
			call.Add(q.Canvas.Spec(), q.Canvas.IDs(), r)
		}
	}
	data, err := samplers.RowsOf(ctx, net, call)
	if err != nil {
		return nil, err
	}
	data = data.Clone()
	var out []samplers.Rows
	at := 0
	for _, q := range all {
		columns := q.Canvas.Spec().Columns
		var rows []draw.Row
		for _, r := range q.Rows {
			n := len(r.Positions) * columns
			rows, at = append(rows, data.Slice(at, at+n)), at+n
		}
		out = append(out, q.Shape.Rows(samplers.NewRows(columns, rows, nil, q.Canvas.Categorical())))
	}
	return out, nil
}
