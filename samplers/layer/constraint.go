// Package layer wraps any kernel: it fills blocks one after another, grows the canvas, corrects
// filled positions, and applies guidance and constraints to the rows.
package layer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Constraint is a kernel whose rows are not the network's own: they are guided by the rows of a
// second canvas, and exclude what rules forbid. It wraps all other layers, for which the rows are
// those of another network.
type Constraint struct {
	samplers.Kernel
	Guidance *Guidance // nil for none
	Rules    *Rules    // nil for none
	// Leaves reports whether the kernel may leave masks.
	Leaves bool
	// MaxLength is the greatest length of the canvas, 0 if it does not grow.
	MaxLength int
}

// Fill starts to fill positions by the changed rows.
func (k *Constraint) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	shape, err := k.On(c, free)
	if err != nil {
		return nil, err
	}
	inner, err := k.Kernel.Fill(c, d, free)
	return &constrained{constraint: k, Shape: shape, draws: d, inner: inner, free: len(free)}, err
}

// Head returns HeadRows, since the rows are changed before a draw.
func (*Constraint) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

// Law returns the kernel's law if its choices can be repeated on the rows that it reads.
func (k *Constraint) Law() samplers.Law {
	law := k.Kernel.Law()
	switch {
	case k.Bans():
		return samplers.Unknown{Why: "a token that would complete a banned word with others of its call is rejected"}
	case samplers.Is[samplers.Planned](law), samplers.Is[samplers.ByCausal](law):
		return samplers.Unknown{Why: "its rows are guided or constrained, and its law is of the network's own"}
	}
	return law
}

// ExpectedCalls returns those of a kernel whose choices can be repeated.
func (k *Constraint) ExpectedCalls(d int) (calls, finish float64, err error) {
	if inner, ok := k.Kernel.(samplers.Counted); ok && !k.Bans() && !samplers.Is[samplers.Planned](k.Kernel.Law()) {
		return inner.ExpectedCalls(d)
	}
	return math.NaN(), math.NaN(), nil
}

// Bans reports whether words are banned.
func (k *Constraint) Bans() bool { return k.Rules != nil && k.Rules.words != nil }

// MostCalls also counts the calls that fill positions with refused tokens.
func (k *Constraint) MostCalls(c samplers.Spec, d, length int) int {
	most := k.Kernel.MostCalls(c, d, length)
	if k.Bans() {
		most += d + max(k.MaxLength-length, 0)
	}
	return most
}

// constrained is the decoder of a sequence.
type constrained struct {
	constraint *Constraint
	*Shape
	draws *draw.Numbers
	inner samplers.Decoder
	// free is the number of positions masked at the start. head and top are those that the inner
	// decoder asks for.
	free    int
	head    samplers.Head
	top     int
	rowsToo bool
	// refused lists the positions whose token was refused. Those still masked at the end are filled
	// one by one.
	refused []int
	filling bool
}

func (s *constrained) Ask(a *samplers.Ask) bool {
	if !s.filling && !s.inner.Ask(a) {
		*a = samplers.Ask{Rows: a.Rows[:0]}
		s.finish()
	}
	if s.filling && !s.fill(a) {
		return false
	}
	s.head, s.top, s.rowsToo = a.Head, a.Top, a.WithRows
	a.Head, a.Top = samplers.HeadRows, 0
	s.expand(a)
	return true
}

// finish finds the positions to fill: those with refused tokens, and those that a decoder with
// quotas left masked because it chose a refused position again.
func (s *constrained) finish() {
	s.filling = true
	if len(s.refused) > 0 && !s.constraint.Leaves {
		s.refused = s.canvas.Masked(s.refused)
	}
	slices.Sort(s.refused)
}

// fill asks for the first refused position that is masked.
func (s *constrained) fill(a *samplers.Ask) bool {
	s.refused = slices.Compact(slices.DeleteFunc(s.refused, s.canvas.HoldsToken))
	if len(s.refused) == 0 {
		return false
	}
	theta := s.canvas.Theta(float64(len(s.refused)) / float64(s.free))
	block := samplers.Span{From: s.refused[0], To: s.canvas.Block().To}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: s.refused[:1], Block: block, Theta: theta})
	a.Step, a.Finish = -1, true
	return true
}

func (s *constrained) Take(r samplers.Rows, e *samplers.Edit) error {
	rows := s.answer(r, s.head, s.top, s.rowsToo)
	if s.constraint.Bans() {
		e.Refuse(func(position, token int) bool {
			if !s.rules.completes(s.canvas.IDs(), position, token) {
				return false
			}
			s.refused = append(s.refused, position)
			return true
		})
	}
	err := s.take(rows, e)
	switch {
	case !errors.Is(err, draw.ErrNoMass):
	case s.rules != nil:
		err = fmt.Errorf("%w or is banned: ban fewer tokens", err)
	case s.hidden != nil:
		err = fmt.Errorf("%w on one of the two canvases: leave guidance out", err)
	}
	return err
}

// take passes the inner decoder its rows, or fills a position itself.
func (s *constrained) take(r samplers.Rows, e *samplers.Edit) error {
	if !s.filling {
		return s.inner.Take(r, e)
	}
	l := s.refused[0]
	token, logP, err := r.Token(0, 0, s.draws.Token(l))
	if err != nil {
		return fmt.Errorf("position %d: %w", l, err)
	}
	e.Set(l, token, logP)
	return nil
}

// Report is the inner decoder's.
func (s *constrained) Report(r *samplers.Result) { samplers.Report(s.inner, r) }
