package samplers

import "mdmgen/samplers/draw"

// parts are those of a canvas that a sampler fills one after the other, each as it would fill
// a canvas of its own.
type parts interface {
	// free are the positions of the part that are to be filled, which belong to the receiver.
	free() []int
	// behind goes to the next part, now that this one is filled, and is false behind the last;
	// e is nil before the first call.
	behind(e *Edit) bool
}

// inParts is the decoder of parts. It has the decoder of the part ask as soon as that has taken
// its rows, to know when the part is filled.
type inParts struct {
	parts   parts
	sampler *Sampler
	canvas  *Canvas
	draws   *draw.Draws
	inner   Decoder // that of the part
	ask     Ask
	more    bool
	tally
}

func startParts(s *Sampler, c *Canvas, d *draw.Draws, p parts) (Decoder, error) {
	out := &inParts{parts: p, sampler: s, canvas: c, draws: d}
	return out, out.prepare(nil)
}

// prepare has the decoder of the part ask, or that of the first behind it that has something to
// ask.
func (p *inParts) prepare(e *Edit) (err error) {
	for {
		if p.inner == nil {
			if p.inner, err = p.sampler.on(p.canvas, p.draws, p.parts.free()); err != nil {
				return err
			}
		}
		p.ask = Ask{Rows: p.ask.Rows[:0]}
		if p.more = p.inner.Ask(&p.ask); p.more {
			return nil
		}
		p.release()
		if !p.parts.behind(e) {
			return nil
		}
	}
}

func (p *inParts) Ask(a *Ask) bool {
	rows := append(a.Rows, p.ask.Rows...)
	*a = p.ask
	a.Rows = rows
	return p.more
}

func (p *inParts) Take(r Rows, e *Edit) error {
	if err := p.inner.Take(r, e); err != nil {
		return err
	}
	return p.prepare(e)
}

// release counts what the decoder of the part did, and gives back its memory.
func (p *inParts) release() {
	if p.inner != nil {
		p.add(p.inner)
		releaseOf(p.inner)
	}
	p.inner = nil
}

// tally sums what decoders did that one sequence had one after the other.
type tally struct{ events, ruleCalls int }

func (t *tally) add(d Decoder) {
	t.events += eventsOf(d)
	t.ruleCalls += ruleCallsOf(d)
}

// Events is the number of events of the plans.
func (t *tally) Events() int { return t.events }

// RuleCalls counts the calls that the rules make.
func (t *tally) RuleCalls() int { return t.ruleCalls }

// eventsOf, ruleCallsOf and releaseOf are what a [Decoder] may have.
func eventsOf(d Decoder) int {
	if d, ok := d.(interface{ Events() int }); ok {
		return d.Events()
	}
	return 0
}

func ruleCallsOf(d Decoder) int {
	if d, ok := d.(interface{ RuleCalls() int }); ok {
		return d.RuleCalls()
	}
	return 0
}

func releaseOf(d Decoder) {
	if d, ok := d.(interface{ release() }); ok {
		d.release()
	}
}
