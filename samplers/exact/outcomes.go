// Package exact enumerates what a decoder without a plan may do: all outcomes on a small network,
// or the ways to one text on any. A decoder runs outside an engine and is forked where it may
// continue in several ways; equal forks are merged.
package exact

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
)

// Outcome is a possible result of a sampler.
type Outcome struct {
	// IDs is the canvas, with MASK's id at positions left masked.
	IDs []int
	// P is its probability.
	P float64
}

// Enumerable is a kernel whose outcomes can be computed.
type Enumerable interface {
	samplers.Kernel
	// Enumerate enumerates all ways in which a canvas may be filled.
	Enumerate(w *Walk, c *samplers.Canvas) error
	// Enumerates reports whether it can.
	Enumerates() bool
}

// Inside returns the kernel inside a constraint, which may change its rows, and the constraint, or nil. A
// cache of finished blocks changes no row, and is left out.
func Inside(k samplers.Kernel) (samplers.Kernel, *layer.Constraint) {
	if around, ok := k.(*layer.Constraint); ok {
		return cache.Exact(around.Kernel), around
	}
	return cache.Exact(k), nil
}

// Enumerates returns nil if [Outcomes] can enumerate the outcomes of a kernel. Otherwise it returns
// the reason: the kernel has a plan, blocks or corrections, or words are banned.
func Enumerates(k samplers.Kernel) error {
	inner, around := Inside(k)
	if law, ok := inner.(Enumerable); ok && law.Enumerates() && (around == nil || !around.Bans()) {
		return nil
	}
	if law, ok := k.Law().(samplers.Unknown); ok {
		return errors.New(law.Why)
	}
	return errors.New("it has a plan")
}

// Outcomes computes the exact law of a kernel without a plan on a canvas of a small network, in the order
// of ids, and the expected number of calls of its rule (for remdm, of the calls made). It enumerates
// every way to draw the tokens of a call and merges equal canvases. It returns an error if there are more
// than limit ways, or if [Enumerates] does. Probabilities are as precise as the network's logits.
func Outcomes(ctx context.Context, net samplers.Network, k samplers.Kernel, how draw.Settings, canvas []int, limit int) ([]Outcome, float64, error) {
	if err := Enumerates(k); err != nil {
		return nil, 0, fmt.Errorf("cannot compute its law: %w", err)
	}
	c, shape, err := Begin(net.Spec(), k, how, canvas)
	if err != nil {
		return nil, 0, err
	}
	w := &Walk{ctx: ctx, net: net, left: limit, shape: shape, ended: make(map[string]*Outcome)}
	inner, _ := Inside(k)
	if err := inner.(Enumerable).Enumerate(w, c); err != nil {
		return nil, 0, err
	}
	var out []Outcome
	for _, x := range w.ended {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Outcome) int { return slices.Compare(a.IDs, b.IDs) })
	return out, w.Calls, nil
}

// Begin returns a canvas outside an engine, and the shape that changes its rows.
func Begin(spec samplers.Spec, k samplers.Kernel, how draw.Settings, ids []int) (*samplers.Canvas, *layer.Shape, error) {
	rows, err := draw.NewCategorical(spec.Vocabulary, how)
	if err != nil {
		return nil, nil, err
	}
	c := samplers.NewCanvas(&spec, rows, ids)
	if _, around := Inside(k); around != nil {
		shape, err := around.On(c, c.Masked(nil))
		return c, shape, err
	}
	return c, nil, nil
}

// Walk is the state of an enumeration.
type Walk struct {
	ctx   context.Context
	net   samplers.Network
	left  int // the number of ways that may still be enumerated
	shape *layer.Shape
	ended map[string]*Outcome
	// Calls is the expected number of calls.
	Calls float64
}

// End adds an outcome.
func (w *Walk) End(ids []int64, p float64) {
	key := fmt.Sprint(ids)
	x := w.ended[key]
	if x == nil {
		x = new(Outcome)
		for _, id := range ids {
			x.IDs = append(x.IDs, int(id))
		}
		w.ended[key] = x
	}
	x.P += p
}

// Rows queries the network.
func (w *Walk) Rows(c *samplers.Canvas, a *samplers.Ask) (samplers.Rows, error) {
	out, err := Answers(w.ctx, w.net, []*Question{{c, w.shape, *a}})
	if err != nil {
		return samplers.Rows{}, err
	}
	return out[0], nil
}

// EachDraw calls do for each way to select one of the options of every position that has some, with
// p times the product of their probabilities. drawn is valid during the call.
func EachDraw[T any](options [][]T, p float64, chance func(T) float64, do func(drawn []T, p float64) error) error {
	drawn := make([]T, 0, len(options))
	var take func(i int, p float64) error
	take = func(i int, p float64) error {
		switch {
		case i == len(options):
			return do(drawn, p)
		case options[i] == nil:
			return take(i+1, p)
		}
		for _, x := range options[i] {
			drawn = append(drawn, x)
			if err := take(i+1, p*chance(x)); err != nil {
				return err
			}
			drawn = drawn[:len(drawn)-1]
		}
		return nil
	}
	return take(0, p)
}
