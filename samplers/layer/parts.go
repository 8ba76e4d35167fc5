package layer

import (
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// parts are the parts of a canvas that a kernel fills one after another, each like a canvas of its own.
type parts interface {
	// free returns the positions of the part to be filled. The caller owns the slice.
	free() []int
	// behind moves to the next part after this one is filled. It returns false after the last; e is
	// nil before the first call.
	behind(e *samplers.Edit) bool
}

// inParts is the decoder of parts. It calls Ask of the part's decoder as soon as that has taken its
// rows, to find out whether the part is filled.
type inParts struct {
	parts  parts
	kernel samplers.Kernel
	canvas *samplers.Canvas
	draws  *draw.Numbers
	inner  samplers.Decoder // of the part
	ask    samplers.Ask
	more   bool
	// told is the sum of the reports of the previous parts' decoders.
	told samplers.Result
}

func startParts(k samplers.Kernel, c *samplers.Canvas, d *draw.Numbers, p parts) (samplers.Decoder, error) {
	out := &inParts{parts: p, kernel: k, canvas: c, draws: d}
	return out, out.prepare(nil)
}

// prepare calls Ask of the part's decoder, and moves to the next part until one has a request.
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

// Report adds the reports of all parts.
func (p *inParts) Report(r *samplers.Result) { r.RuleCalls = p.told.RuleCalls }
