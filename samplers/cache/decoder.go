package cache

import (
	"cmp"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// decoder is the decoder of a sequence.
type decoder struct {
	samplers.Decoder
	settings Settings
	canvas   *samplers.Canvas
	draws    *draw.Numbers
	spec     *samplers.Spec
	// seen is the canvas of the last call. since counts the positions that have changed since the
	// last full call.
	seen  []int64
	since int
	// from is the start of the block, and turn the next position of the rotation.
	from, turn int
	// asked is one more than the last block of a block-causal network that was computed as a whole.
	asked int
	// stale is the first position of such a network, or of one with causal rows, whose kept rows are not
	// those of seen.
	stale int
	audit *audit // nil for none
}

func (d *decoder) Ask(a *samplers.Ask) bool {
	if !d.Decoder.Ask(a) {
		return false
	}
	for i := range a.Rows {
		a.Rows[i].Block = cmp.Or(a.Rows[i].Block, d.canvas.Block())
	}
	d.compute(a.Rows)
	ids := a.Rows[0].IDs(d.canvas)
	if d.spec.Causal {
		d.stale = a.Rows[0].Block.From // The rows of a block are not the causal ones.
	} else if d.block() > 0 {
		d.stale = max(d.changed(ids), d.end(a.Rows[0]))
	}
	d.seen = append(d.seen[:0], ids...)
	if d.audit != nil {
		d.audit.ask(a, d.draws.Audit(d.audit.Calls) < d.settings.Audit)
	}
	return true
}

// block returns the length of the blocks of a block-causal network, 0 for others.
func (d *decoder) block() int {
	if d.settings.Kind == Blocks {
		return d.settings.Block
	}
	return d.settings.Causal
}

// changed returns the start of the first block whose kept rows are stale. All later blocks are stale,
// too, because a given block sees the blocks before it that have been filled.
func (d *decoder) changed(ids []int64) int {
	if len(d.seen) != len(ids) {
		return 0
	}
	for l := range d.stale {
		if ids[l] != d.seen[l] {
			return l - l%d.block()
		}
	}
	return d.stale
}

// end returns the position up to which a call computes the stale blocks.
func (d *decoder) end(r samplers.AskRow) int {
	if d.spec.Causal {
		return r.Block.To
	}
	if d.settings.Causal > 0 {
		return d.from - d.from%d.settings.Causal
	}
	l := d.spec.InputRow(slices.Max(r.Positions), r.Block)
	return min(l-l%d.settings.Block+d.settings.Block, d.canvas.Len())
}

// compute chooses the input rows to compute, equally many for all canvases so that they can share a
// call. All canvases but the first are guesses.
func (d *decoder) compute(asked []samplers.AskRow) {
	n := d.canvas.Len()
	size := n
	chosen := make([]positions, len(asked))
	switch full := d.full(asked[0]); {
	case full && d.block() > 0 && len(asked) == 1: // No row depends on what is behind the block.
		chosen[0].in = make([]bool, n)
		chosen[0].add(0, d.end(asked[0])+d.settings.Causal)
		size = chosen[0].n
	case !full:
		size = 0
		if d.settings.Kind == Window {
			size = 2*(2*d.settings.W+1) + d.settings.Round
		}
		for i, r := range asked {
			chosen[i] = d.choose(r)
			size = max(size, chosen[i].n+d.settings.Round)
		}
	}
	asked[0].Keep = 1
	if size >= n {
		d.since = 0
		return
	}
	turn := d.turn
	for i := range asked {
		d.turn = turn
		asked[i].Keep, asked[i].Guess = 1, i > 0
		for ; chosen[i].n < size; d.turn++ {
			chosen[i].add(d.turn%n, d.turn%n+1)
		}
		asked[i].Compute = chosen[i].list()
	}
}

// full reports whether all rows are computed: in the first call, and at the beginning of a block or
// after Refresh reveals.
func (d *decoder) full(r samplers.AskRow) bool {
	ids := r.IDs(d.canvas)
	first := len(d.seen) != len(ids)
	switch d.settings.Kind {
	case Blocks:
		return first
	case Dual, Prefix:
		inside := max(slices.Max(r.Positions)-d.settings.Prompt, 0)
		from := d.settings.Prompt + inside - inside%d.settings.Block
		begins := from != d.from
		if d.from = from; d.settings.Causal == 0 {
			return first || begins
		}
		if block := from / d.settings.Causal; first && d.spec.InputRow(r.Positions[0], r.Block)/d.settings.Causal == block {
			d.asked = block + 1
		}
		return first
	}
	for l := 0; l < len(ids) && !first; l++ {
		if ids[l] != d.seen[l] {
			d.since++
		}
	}
	return first || d.settings.Refresh > 0 && d.since >= d.settings.Refresh
}

// choose marks the input rows that a canvas needs.
func (d *decoder) choose(r samplers.AskRow) positions {
	ids := r.IDs(d.canvas)
	rows := positions{in: make([]bool, len(ids))}
	if d.settings.Causal > 0 {
		d.inside(&rows, r, ids)
		return rows
	}
	near := func(l, w int) {
		if d.settings.Kind == Blocks {
			l -= l % d.settings.Block
			rows.add(l, l+d.settings.Block)
			return
		}
		rows.add(l-w, l+w+1)
	}
	for i, l := range r.Positions {
		l, w := d.spec.InputRow(l, r.Block), d.settings.W
		if d.settings.Ahead && i > 0 {
			w = 0
		}
		near(l, w)
	}
	switch d.settings.Kind {
	case Dual:
		rows.add(d.from, d.from+d.settings.Block)
	case Prefix:
		rows.add(d.from, len(ids))
	case Blocks:
		rows.add(d.changed(ids), d.end(r))
	default:
		for l, id := range ids {
			if id != d.seen[l] {
				near(l, d.settings.W)
			}
		}
	}
	return rows
}

// inside marks the rows of a block within a block of a block-causal network.
func (d *decoder) inside(rows *positions, r samplers.AskRow, ids []int64) {
	add := func(l, size int) { rows.add(l-l%size, l-l%size+size) }
	switch block := d.from / d.settings.Causal; {
	case d.spec.InputRow(r.Positions[0], r.Block)/d.settings.Causal != block: // The last row of the previous block predicts this block's first position.
	case int(ids[d.from]) == d.spec.Mask || d.asked != block+1:
		add(d.from, d.settings.Causal)
		d.asked = block + 1
	default:
		add(d.from, d.settings.Block)
	}
	for _, l := range r.Positions {
		if l = d.spec.InputRow(l, r.Block); !rows.in[l] {
			add(l, d.settings.Causal)
		}
	}
	rows.add(d.changed(ids), d.end(r))
}

// positions is a set of n positions of a canvas.
type positions struct {
	in []bool
	n  int
}

// add adds the positions from..to that exist, to excluded.
func (p *positions) add(from, to int) {
	for l := max(from, 0); l < min(to, len(p.in)); l++ {
		if !p.in[l] {
			p.in[l] = true
			p.n++
		}
	}
}

// list returns the positions in ascending order.
func (p *positions) list() (out []int) {
	for l, in := range p.in {
		if in {
			out = append(out, l)
		}
	}
	return out
}

func (d *decoder) Take(r samplers.Rows, e *samplers.Edit) error {
	if d.audit == nil {
		return d.Decoder.Take(r, e)
	}
	return d.audit.take(d, r, e)
}

// Report adds the audit, if there is one.
func (d *decoder) Report(r *samplers.Result) {
	if samplers.Report(d.Decoder, r); d.audit != nil {
		out := d.audit.Audit
		out.KL, out.TV = out.KL/d.settings.Audit, out.TV/d.settings.Audit
		r.Audit = &out
	}
}
