package samplers

import (
	"errors"
	"fmt"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

var errNoPlan = errors.New("the sampler has no plan: the network's rows, blocks, corrections, guidance or constraints decide what is drawn when")

// firstHitting is the method of a job that names none.
var firstHitting = &Sampler{law: fhs{}, settings: Settings{Sampler: "fhs"}}

var _ Method = (*Sampler)(nil)

// Start begins a sequence: it draws the plan, if the sampler has one.
func (s *Sampler) Start(c *Canvas, d *draw.Draws) (Decoder, error) {
	if c.spec.Shift && c.Len() > 0 && c.masked(0) {
		return nil, fmt.Errorf("position 0 is free: this network predicts position l from row l−1, so give the first token")
	}
	return s.on(c, d, c.Masked(nil))
}

// Check says why a canvas cannot be filled, as far as that is known before the network is asked.
func (s *Sampler) Check(spec Spec, canvas []int) error {
	law, err := draw.NewCategorical(spec.Vocabulary, s.settings.Draw)
	if err != nil {
		return err
	}
	d, err := s.Start(newCanvas(&spec, law, canvas), draw.NewDraws(0, 0))
	releaseOf(d)
	if err != nil {
		return fault.Errorf("samplers", "%w", err)
	}
	return nil
}

// on begins to fill some of the masked positions, ascending.
func (s *Sampler) on(c *Canvas, d *draw.Draws, free []int) (Decoder, error) {
	if law, ok := s.law.(kernel); ok {
		return law.start(c, d, free, s.denoise)
	}
	p, ok := s.spare.Get().(*planned)
	if !ok {
		p = new(planned)
	}
	*p = planned{sampler: s, draws: d, head: s.head(), free: free, plan: p.plan, uniforms: p.uniforms, kept: p.kept, mixed: p.mixed, before: p.before}
	if err := p.plan.draw(s.law, d, p.free); err != nil {
		return nil, err
	}
	if n := s.settings.Lookahead; n > 1 {
		return &lookahead{planned: p, canvas: c, most: n}, nil
	}
	return p, nil
}

// planned is the decoder of everything that has a plan: a call a block, and a draw at each
// of its positions.
type planned struct {
	sampler *Sampler
	draws   *draw.Draws
	head    Head
	free    []int
	plan    Plan
	// next counts the blocks that were asked for; block is the one to fill, Left of the
	// plan when it is finishing.
	next      int
	block     Block
	finishing bool
	// uniforms are those of the tokens of the block.
	uniforms []float64
	// kept are the rows [len(keptAt)·columns] that the last call gave at the positions
	// keptAt, which the block to fill looks back at.
	kept          []float32
	keptAt        []int
	mixed, before []float64
}

// Events is the number of events of the plan.
func (p *planned) Events() int { return p.plan.Events }

// release keeps its memory for another sequence.
func (p *planned) release() { p.sampler.spare.Put(p) }

// head is what the decoders of a sampler ask for: rows where the fill looks back or more is
// done with them than a draw.
func (s *Sampler) head() Head {
	if law, ok := s.law.(kernel); ok {
		return law.head(s.settings.Draw)
	}
	if s.law.declare().LookBack {
		return HeadRows
	}
	return HeadBest
}

// Head is what a network is asked for where this sampler fills canvases: [HeadBest] where it
// draws itself and nothing else needs rows. A call that fills what the steps of a sampler
// without a plan left is asked for rows, too.
func (s *Sampler) Head(net Network) Head {
	if _, ok := net.(Drawer); ok && s.By() != draw.ByGumbel && !s.settings.Truncates() && s.settings.SuppressTokens == "" {
		return s.head()
	}
	return HeadRows
}

func (p *planned) Ask(a *Ask) bool {
	switch {
	case p.next < len(p.plan.Blocks):
		p.block = p.plan.Blocks[p.next]
		p.next++
	case p.sampler.denoise && !p.finishing && len(p.plan.Left) > 0:
		p.finishing = true
		p.block = Block{Positions: p.plan.Left, Lambda: p.plan.LeftLambda, Theta: p.plan.LeftTheta, Step: -1}
	default:
		return false
	}
	want := p.block.Positions
	if len(p.block.Ahead) > 0 {
		want = slices.Concat(want, p.block.Ahead)
	}
	a.Head = p.head
	if p.uniforms = p.uniforms[:0]; p.head == HeadBest {
		p.uniforms = p.draws.Tokens(p.uniforms, want)
	}
	a.Rows = append(a.Rows, AskRow{Positions: want, Theta: p.block.Theta, Uniforms: p.uniforms})
	a.Step, a.Finish = p.block.Step, p.finishing
	return true
}

func (p *planned) Take(r Rows, e *Edit) error {
	b := &p.block
	for i, l := range b.Positions {
		token, logP, err := p.token(r, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, token, logP)
		if b.Hits != nil {
			e.Hit(b.Hits[i])
		}
	}
	p.keep(r)
	return nil
}

// bounded is a law without a plan that may make other calls than one a position: mostCalls is the
// greatest number of them on a canvas of so many positions, d > 0 of which are free.
type bounded interface {
	mostCalls(c Spec, d, length int) int
}

// MostCalls is the greatest number of calls that a canvas can take: one a free position, but
// for samplers that mask again, edit or correct, and for those whose calls may reveal nothing.
func (s *Sampler) MostCalls(c Spec, canvas []int) int {
	free := 0
	for _, id := range canvas {
		if id == c.Mask {
			free++
		}
	}
	return s.mostCalls(c, free, len(canvas))
}

func (s *Sampler) mostCalls(c Spec, d, length int) int {
	if law, ok := s.law.(bounded); ok && d > 0 {
		return law.mostCalls(c, d, length)
	}
	return d
}
