package layer

import (
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// parts are those of a canvas that a kernel fills one after the other, each as it would fill
// a canvas of its own.
type parts interface {
	// free are the positions of the part that are to be filled, which belong to the receiver.
	free() []int
	// behind goes to the next part, now that this one is filled, and is false behind the last;
	// e is nil before the first call.
	behind(e *samplers.Edit) bool
}

// inParts is the decoder of parts. It has the decoder of the part ask as soon as that has taken
// its rows, to know when the part is filled.
type inParts struct {
	parts  parts
	kernel samplers.Kernel
	canvas *samplers.Canvas
	draws  *draw.Numbers
	inner  samplers.Decoder // that of the part
	ask    samplers.Ask
	more   bool
	// told is what the decoders of the parts before reported.
	told samplers.Result
}

func startParts(k samplers.Kernel, c *samplers.Canvas, d *draw.Numbers, p parts) (samplers.Decoder, error) {
	out := &inParts{parts: p, kernel: k, canvas: c, draws: d}
	return out, out.prepare(nil)
}

// prepare has the decoder of the part ask, or that of the first behind it that has something to
// ask.
func (p *inParts) prepare(e *samplers.Edit) (err error) {
	for {
		if p.inner == nil {
			if p.inner, err = p.kernel.Fill(p.canvas, p.draws, p.parts.free()); err != nil {
				return err
			}
		}
		p.ask = samplers.Ask{Rows: p.ask.Rows[:0]}
		if p.more = p.inner.Ask(&p.ask); p.more {
			return nil
		}
		samplers.Report(p.inner, &p.told)
		if p.inner = nil; !p.parts.behind(e) {
			return nil
		}
	}
}

func (p *inParts) Ask(a *samplers.Ask) bool {
	rows := append(a.Rows, p.ask.Rows...)
	*a = p.ask
	a.Rows = rows
	return p.more
}

func (p *inParts) Take(r samplers.Rows, e *samplers.Edit) error {
	if err := p.inner.Take(r, e); err != nil {
		return err
	}
	return p.prepare(e)
}

// Report is that of all parts.
func (p *inParts) Report(r *samplers.Result) { r.Events, r.RuleCalls = p.told.Events, p.told.RuleCalls }
