package rank

import (
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// aheadCost is the sentence that the cost of a sampler with look-ahead ends with.
const aheadCost = " With lookahead K at temperature 0 there are fewer calls, of up to K canvases each. The ids are the same as without it, with any draw."

// lookahead is the decoder of a rule whose choices are determined by the canvas: one that ranks at
// temperature 0. It drafts the reveals of the next calls from the available rows, as if these did
// not change, and queries all canvases on the way in one call. The first canvas is the decoder's
// own; a later one is too if the calls before it revealed exactly the drafts. So the ids are those
// of one canvas per call, in fewer calls: the method of FreeDave (Wu and Zhang, arXiv 2510.00294)
// and of self-speculative decoding (Gao et al., arXiv 2510.04147).
type lookahead struct {
	*rankDecoder
	// most is the greatest number of canvases in a call.
	most int
	// drafts holds the decoders after one, two, … drafted calls, ready for the next.
	drafts []*rankDecoder
	// looked reports whether the decoder has found its next call, and more whether there is one.
	looked, more bool
}

// mayLookAhead returns an error for options under which the canvas does not determine the choices.
func (k *kernel) mayLookAhead(how draw.Settings) error {
	if k.most > 1 && (how.AtTemperature() != 0 || k.score == ByRandom || k.temper > 0 || k.editing > 0) {
		return fault.Errorf("samplers", "lookahead: ranking decoders support look-ahead only at temperature 0: set temperature 0, and leave out score random, alg-temp and editing-threshold")
	}
	return nil
}

func (d *lookahead) Ask(a *samplers.Ask) bool {
	if !d.looked {
		d.more = d.next()
	}
	if d.looked = false; !d.more {
		return false
	}
	d.request(a)
	for _, next := range d.drafts {
		next.request(a)
		row := &a.Rows[len(a.Rows)-1]
		row.Canvas, row.Block = next.canvas.IDs(), next.canvas.Block()
	}
	a.Step = d.ruleCalls - 1
	return true
}

func (d *lookahead) Take(r samplers.Rows, e *samplers.Edit) error {
	for i := range len(d.drafts) + 1 {
		d.reader.canvas = i
		if err := d.rankDecoder.Take(r, e); err != nil || e.Err() != nil {
			return err
		}
		d.looked, d.more = true, d.next()
		if !d.more || i == len(d.drafts) || d.drafts[i].key() != d.key() {
			break
		}
	}
	d.draft(slices.Clone(d.drawn))
	return nil
}

// draft continues from the next call with the candidates of the last one, as long as these contain
// all positions that a call asks about.
func (d *lookahead) draft(known []candidate) {
	d.drafts = d.drafts[:0]
	at := d.rankDecoder
	for len(d.drafts)+1 < d.most && d.more {
		best := slices.DeleteFunc(slices.Clone(known), func(c candidate) bool { return !slices.Contains(at.asked, c.position) })
		if len(best) < len(at.asked) {
			return
		}
		slices.SortFunc(best, compareKeys)
		next, e := at.fork()
		if next.commit(best[:at.considered], nil, e); !next.next() {
			return
		}
		d.drafts = append(d.drafts, next)
		at = next
	}
}
