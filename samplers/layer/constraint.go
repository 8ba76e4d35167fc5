// Package layer has what stands around any kernel: blocks that are filled one after the other, a
// canvas that grows, corrections of what is filled, and guidance and constraints of the rows.
package layer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Constraint is the law of a kernel whose rows are not as the network gives them: guided by those
// of a second canvas, and without what rules forbid. It stands around all other layers, so that
// each of them reads the rows of another network.
type Constraint struct {
	samplers.Kernel
	Guidance *Guidance // nil for none
	Rules    *Rules    // nil for none
	// Leaves is whether the kernel may leave masks.
	Leaves bool
	// MaxLength is the greatest length of the canvas, 0 where it does not grow.
	MaxLength int
}

// Fill begins to fill positions by shaped rows.
func (k *Constraint) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	shape, err := k.On(c, free)
	if err != nil {
		return nil, err
	}
	inner, err := k.Kernel.Fill(c, d, free)
	return &constrained{law: k, Shape: shape, draws: d, inner: inner, free: len(free)}, err
}

// Head is rows: more is done with them than a draw.
func (*Constraint) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

// Law is the kernel's, where its choices are made again on the rows that it reads.
func (k *Constraint) Law() samplers.Law {
	law := k.Kernel.Law()
	switch {
	case k.Bans():
		return samplers.Law{Why: "a token that would make a banned word with others of its call is refused"}
	case law.Planned:
		return samplers.Law{Why: "its rows are guided or constrained, and plans are worked out with the network's own"}
	}
	return law
}

// Bans reports whether there are words that must not come about.
func (k *Constraint) Bans() bool { return k.Rules != nil && k.Rules.words != nil }

// MostCalls counts the calls that fill what was refused, too.
func (k *Constraint) MostCalls(c samplers.Spec, d, length int) int {
	most := k.Kernel.MostCalls(c, d, length)
	if k.Bans() {
		most += d + max(k.MaxLength-length, 0)
	}
	return most
}

// constrained is the decoder of a sequence.
type constrained struct {
	law *Constraint
	*Shape
	draws *draw.Numbers
	inner samplers.Decoder
	// free counts what was masked at the start; head and top are what the inner decoder wants.
	free    int
	head    samplers.Head
	top     int
	rowsToo bool
	// refused are positions whose token was refused. What is masked in the end because of that
	// is drawn one by one.
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
	s.head, s.top, s.rowsToo = a.Head, a.Top, a.RowsToo
	a.Head, a.Top = samplers.HeadRows, 0
	s.expand(a)
	return true
}

// finish finds what is to be filled: where a token was refused, and what a decoder with quotas left
// masked because it took a refused position again.
func (s *constrained) finish() {
	s.filling = true
	if len(s.refused) > 0 && !s.law.Leaves {
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
	a.Rows = append(a.Rows, samplers.AskRow{Positions: s.refused[:1], Theta: theta})
	a.Step, a.Finish = -1, true
	return true
}

func (s *constrained) Take(r samplers.Rows, e *samplers.Edit) error {
	rows := s.answer(r, cmp.Or(s.head, samplers.HeadRows), s.top, s.rowsToo)
	if s.law.Bans() {
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
		err = fmt.Errorf("%w, or is banned: ban less", err)
	case s.hidden != nil:
		err = fmt.Errorf("%w on one of the two canvases: leave guidance out", err)
	}
	return err
}

// take has the inner decoder take its rows, or fills a position itself.
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

// Fork is the decoder on a copy of its canvas, with other random numbers.
func (s *constrained) Fork(c *samplers.Canvas, d *draw.Numbers) samplers.Decoder {
	next := *s
	next.Shape, next.draws, next.refused = s.Shape.Fork(), d, slices.Clone(s.refused)
	next.canvas = c
	next.inner = s.inner.(samplers.Forker).Fork(c, d)
	return &next
}

// Report is the inner decoder's.
func (s *constrained) Report(r *samplers.Result) { samplers.Report(s.inner, r) }
