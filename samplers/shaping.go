package samplers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// shaping is the law of a sampler whose rows are not as the network gives them: guided by those of
// a second canvas, and without what rules forbid. It stands around all else that a sampler is made
// of, so that each of them reads the rows of another network.
type shaping struct {
	unplanned
	inner    *Sampler
	guidance *guidance // nil for none
	rules    *rules    // nil for none
}

// shape is s with guidance and rules, where there are any.
func (s *Sampler) shape(o Options, c Spec) (*Sampler, error) {
	law := shaping{inner: s}
	set := s.settings
	var errs [2]error
	law.guidance, errs[0] = newGuidance(o, c, &set)
	law.rules, errs[1] = newRules(o, c)
	if err := fault.Join("samplers", errs[:]...); err != nil || law.guidance == nil && law.rules == nil {
		return s, err
	}
	set.BadWordsIDs, set.MinLength, set.Stop, set.ChangesLaw = o.BadWordsIDs, o.MinLength, o.Stop, true
	return &Sampler{law: law, settings: set}, nil
}

func (law shaping) start(c *Canvas, d *draw.Draws, free []int, _ bool) (Decoder, error) {
	s, err := law.on(c, free)
	if err != nil {
		return nil, err
	}
	s.draws = d
	s.inner, err = law.inner.on(c, d, free)
	return s, err
}

func (law shaping) declare() Law {
	switch {
	case law.bans():
		return Law{Why: "a token that would make a banned word with others of its call is refused"}
	case law.inner.Planned():
		return Law{Why: "its rows are guided or constrained, and plans are worked out with the network's own"}
	}
	return law.inner.law.declare()
}

// bans says that there are words that must not come about.
func (law shaping) bans() bool { return law.rules != nil && law.rules.words != nil }

// on is what shapes the rows of a canvas.
func (law shaping) on(c *Canvas, free []int) (s *shaped, err error) {
	s = &shaped{law: law, canvas: c, free: len(free), early: law.rules.early(free, c.Len())}
	if law.guidance != nil && len(free) > 0 {
		s.hidden, err = law.guidance.hide(c)
	}
	return s, err
}

func (law shaping) mostCalls(c Spec, d, length int) int {
	most := law.inner.mostCalls(c, d, length)
	if law.bans() {
		most += d + max(law.inner.settings.MaxLength-length, 0)
	}
	return most
}

// shaped is the decoder of a sequence.
type shaped struct {
	law    shaping
	canvas *Canvas
	draws  *draw.Draws
	inner  Decoder
	// free counts what was masked at the start; before early the rules' end is not drawn.
	free, early int
	// hidden is what the second canvas holds where it is not −1.
	hidden []int64
	// asked is what the inner decoder wants, with head and top; second are the second canvases.
	asked  []AskRow
	head   Head
	top    int
	second []int64
	data   []float32
	// refused are positions whose token was refused. What is masked in the end because of that
	// is drawn one by one.
	refused []int
	filling bool
}

func (s *shaped) Ask(a *Ask) bool {
	if !s.filling && !s.inner.Ask(a) {
		*a = Ask{Rows: a.Rows[:0]}
		s.finish()
	}
	if s.filling && !s.fill(a) {
		return false
	}
	s.asked, s.head, s.top = append(s.asked[:0], a.Rows...), a.Head, a.Top
	a.Head, a.Top = HeadRows, 0
	s.expand(a)
	return true
}

// finish finds what is to be filled: where a token was refused, and what a decoder with quotas left
// masked because it took a refused position again.
func (s *shaped) finish() {
	s.filling = true
	if set := s.law.inner.settings; len(s.refused) > 0 && set.Finish != "leave" && set.Columns != "raw" {
		s.refused = s.canvas.Masked(s.refused)
	}
	slices.Sort(s.refused)
}

// ask adds what is to be asked beside what is asked about a canvas; rows are then those that were
// asked for. Both are for those who make calls themselves, and nothing is done where s is nil.
func (s *shaped) ask(c *Canvas, a *Ask) {
	if s != nil {
		s.canvas, s.asked = c, slices.Clone(a.Rows)
		s.expand(a)
	}
}

// fork is s for another canvas with the same beginning.
func (s *shaped) fork() *shaped {
	if s == nil {
		return nil
	}
	out := *s
	out.asked, out.second, out.data = nil, nil, nil
	return &out
}

func (s *shaped) rows(r Rows) Rows {
	if s == nil {
		return r
	}
	s.data = nil // which rows that were given before keep
	return s.answer(r, HeadRows)
}

// fill asks for the first refused position that is masked.
func (s *shaped) fill(a *Ask) bool {
	s.refused = slices.Compact(slices.DeleteFunc(s.refused, s.canvas.holdsToken))
	if len(s.refused) == 0 {
		return false
	}
	theta := s.canvas.theta(float64(len(s.refused)) / float64(s.free))
	a.Rows = append(a.Rows, AskRow{Positions: s.refused[:1], Theta: theta})
	a.Step, a.Finish = -1, true
	return true
}

// expand adds the second canvas of each that is asked about.
func (s *shaped) expand(a *Ask) {
	if s.hidden == nil {
		return
	}
	n := s.canvas.Len()
	s.second = slices.Grow(s.second[:0], n*len(a.Rows)) // rows point into it
	for _, r := range a.Rows {
		from := len(s.second)
		s.second = append(s.second, s.ids(r)...)
		second := s.second[from:]
		for l, id := range s.hidden {
			if id >= 0 {
				second[l] = id
			}
		}
		a.Rows = append(a.Rows, AskRow{Canvas: second, Positions: r.Positions, Theta: r.Theta})
	}
}

// ids is the canvas that is asked about.
func (s *shaped) ids(r AskRow) []int64 {
	if r.Canvas != nil {
		return r.Canvas
	}
	return s.canvas.ids
}

// answer makes the rows that the inner decoder asked for of those of the network.
func (s *shaped) answer(r Rows, head Head) Rows {
	out := Rows{head: head, columns: r.columns, draw: r.draw}
	s.data = s.data[:0]
	if head != HeadBest {
		n := 0
		for _, ask := range s.asked {
			n += len(ask.Positions)
		}
		s.data = slices.Grow(s.data, n*r.columns) // rows point into it
	}
	for i, ask := range s.asked {
		ids, from := s.ids(ask), len(s.data)
		best := make([]draw.Drawn, len(ask.Positions))
		for j, l := range ask.Positions {
			at := len(s.data)
			s.data = append(s.data, r.Logits(i, j)...)
			row := s.data[at:]
			if s.hidden != nil {
				s.law.guidance.guide(row, r.Logits(len(s.asked)+i, j))
			}
			if s.law.rules != nil {
				s.law.rules.forbid(row, ids, l, s.early)
			}
			if head == HeadBest {
				best[j].Best, best[j].Err = r.draw.Best(row, ask.Uniforms[j], s.top)
				s.data = s.data[:at]
			}
		}
		out.data, out.best = append(out.data, s.data[from:]), append(out.best, best)
	}
	return out
}

func (s *shaped) Take(r Rows, e *Edit) error {
	rows := s.answer(r, cmp.Or(s.head, HeadRows))
	if s.law.bans() {
		e.refuses = func(position, token int) bool {
			if !s.law.rules.completes(s.canvas.ids, position, token) {
				return false
			}
			s.refused = append(s.refused, position)
			return true
		}
	}
	err := s.take(rows, e)
	if s.law.rules != nil && errors.Is(err, draw.ErrNoMass) {
		err = fmt.Errorf("%w, or is banned: ban less", err)
	}
	return err
}

// take has the inner decoder take its rows, or fills a position itself.
func (s *shaped) take(r Rows, e *Edit) error {
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

func (s *shaped) Events() int { return eventsOf(s.inner) }

func (s *shaped) RuleCalls() int { return ruleCallsOf(s.inner) }

func (s *shaped) release() { releaseOf(s.inner) }
