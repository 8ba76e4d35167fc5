package rank

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/schedule"
)

// candidate is a position with the token drawn there.
type candidate struct {
	position, token int
	logP            float64
	score, entropy  float64
	// stable counts the latest consecutive calls in which the row hardly changed, if rows are watched.
	stable int
	// key orders candidates. It is the score, except for random choices.
	key float64
}

// rankDecoder is the decoder of a sequence.
type rankDecoder struct {
	kernel *kernel
	canvas *samplers.Canvas
	draws  *draw.Numbers
	reader reader
	// shape changes the rows when a text is replayed; nil does not.
	shape *layer.Shape
	// free is the number of positions masked at the start.
	free int
	// block is the block to fill. entered reports whether run belongs to it.
	block   layer.Window
	entered bool
	run     blockRun
	// ruleCalls counts the calls of the rule in all blocks.
	ruleCalls int
	// asked lists the positions of the call, the masked ones first. considered is the number of
	// candidates that the call may commit, and withheld how many fewer these are than its share.
	asked, masked        []int
	considered, withheld int
	drawn, ranked        []candidate
	// seen holds the rows of the last call by position, if they are watched.
	seen map[int]sight
}

// Report adds the calls that the rule makes, including those that are skipped because they cannot
// commit anything.
func (d *rankDecoder) Report(r *samplers.Result) { r.RuleCalls += d.ruleCalls }

// look counts masks and finds the candidates: masks before the end of the block.
func (d *rankDecoder) look() {
	d.masked, d.run.masked = d.masked[:0], 0
	for l := range d.block.To {
		if !d.canvas.IsMasked(l) {
			continue
		}
		if l >= d.block.From {
			d.run.masked++
		} else if d.kernel.inside || d.kernel.outsideKept && d.run.calls > 0 {
			continue
		}
		d.masked = append(d.masked, l)
	}
	d.run.candidates = len(d.masked)
}

// enter starts a block.
func (d *rankDecoder) enter() {
	d.entered = true
	d.block.Enter()
	d.run = blockRun{length: d.block.To - d.block.From}
	d.look()
	d.run.first = d.run.masked
	if d.kernel.steps == 0 {
		return
	}
	steps, of := (d.kernel.steps+d.block.Blocks()-1)/d.block.Blocks(), d.run.first
	if d.kernel.ofLength {
		steps, of = d.kernel.steps, d.run.length
	}
	d.run.steps = steps
	if d.kernel.binomial {
		var uniforms []float64
		for _, l := range d.masked[len(d.masked)-d.run.first:] {
			uniforms = append(uniforms, d.draws.Plan(l))
		}
		d.run.quotas = schedule.DrawnQuotas(uniforms, steps, d.kernel.cosine)
	} else {
		d.run.quotas = d.kernel.quotas(of, steps)
	}
}

// next finds the next call that can commit something. It returns false if there is none.
func (d *rankDecoder) next() bool {
	for {
		if !d.entered && d.block.FirstAlone() {
			d.masked, d.run, d.considered = append(d.masked[:0], d.block.From), blockRun{length: 1, first: 1, masked: 1, candidates: 1}, 1
			d.asked = append(d.asked[:0], d.block.From)
			d.ruleCalls++
			return true
		}
		if !d.entered {
			d.enter()
		}
		d.look()
		n, more := d.kernel.choosing.consider(&d.run)
		if !more {
			if d.entered = false; !d.block.Next() {
				return false
			}
			continue
		}
		d.withheld = 0
		if first := d.block.From; d.kernel.outsideKept && d.canvas.Spec().Shift && d.run.calls == 0 && d.canvas.IsMasked(first) {
			d.withheld = max(n-1, 0)
			d.masked, n = append(d.masked[:0], first), 1
		}
		d.ruleCalls++
		d.considered = min(n, len(d.masked))
		d.asked = append(d.asked[:0], d.masked...)
		if d.kernel.editing > 0 {
			// A finished block does not change.
			for l := d.block.From; l < d.block.To; l++ {
				if !d.block.Given[l] && !d.canvas.IsMasked(l) {
					d.asked = append(d.asked, l)
				}
			}
		}
		d.asked = d.ahead(d.asked)
		if d.considered > 0 || len(d.asked) > len(d.masked) {
			return true
		}
		d.run.calls++
		d.run.idle = d.run.masked == 0 // a call about no position changes nothing
	}
}

// theta returns the −log α of the query of a time-conditioned network: that of the masked fraction
// of the positions masked at the start.
func (d *rankDecoder) theta() float64 {
	return d.canvas.Theta(float64(len(d.canvas.Masked(nil))) / float64(d.free))
}

func (d *rankDecoder) Ask(a *samplers.Ask) bool {
	if !d.next() {
		return false
	}
	if d.kernel.score == ByRandom {
		// The order of the plan's uniforms has the same distribution as a new choice in each call.
		slices.SortFunc(d.asked, func(i, j int) int {
			return cmp.Or(cmp.Compare(d.draws.Plan(j), d.draws.Plan(i)), i-j)
		})
		d.asked = d.asked[:d.considered]
	}
	a.Step = d.ruleCalls - 1
	d.request(a)
	return true
}

// request asks for the rows of the next call.
func (d *rankDecoder) request(a *samplers.Ask) { d.reader.ask(a, d.asked, d.theta()) }

func (d *rankDecoder) Take(r samplers.Rows, e *samplers.Edit) error {
	d.drawn = d.drawn[:0]
	if err := d.watch(r); err != nil {
		return err
	}
	for i, l := range d.asked {
		if l >= d.block.To {
			break // a position that is only watched
		}
		c, err := d.reader.read(r, i, l)
		if i >= len(d.masked) && (errors.Is(err, draw.ErrNoMass) || errors.Is(err, samplers.ErrNoSoftmax)) {
			continue // the network has no distribution at a position with a token
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		d.drawn = append(d.drawn, c)
	}
	best, edits := d.split(d.drawn)
	d.commit(best[:d.considered], edits, e)
	return nil
}

// split divides the drawn tokens into candidates, best first, and those at positions that already
// hold a token.
func (d *rankDecoder) split(drawn []candidate) (best, edits []candidate) {
	d.ranked = d.ranked[:0]
	for _, c := range drawn {
		if d.canvas.IsMasked(c.position) {
			d.ranked = append(d.ranked, c)
		} else {
			edits = append(edits, c)
		}
	}
	slices.SortFunc(d.ranked, compareKeys)
	return d.ranked, edits
}

// compareKeys orders by decreasing key, then by increasing position.
func compareKeys(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.key, a.key), a.position-b.position)
}

// commit puts on the canvas the tokens that the rule chooses of the considered candidates, best
// first, and its edits.
func (d *rankDecoder) commit(considered, edits []candidate, e *samplers.Edit) {
	edited := false
	for _, c := range edits {
		if c.token != d.canvas.ID(c.position) && c.score > d.kernel.editing {
			e.Set(c.position, c.token, c.logP)
			edited = true
		}
	}
	chosen := considered
	if len(considered) > 0 {
		chosen = d.kernel.choosing.choose(&d.run, considered)
	}
	if d.run.masked == 0 {
		d.run.polished++
		d.run.idle = !edited
	}
	d.reveal(chosen, len(considered)+d.withheld, e)
}

// reveal puts the chosen tokens on the canvas, out of considered candidates.
func (d *rankDecoder) reveal(chosen []candidate, considered int, e *samplers.Edit) {
	for _, c := range chosen {
		e.Set(c.position, c.token, c.logP)
	}
	d.run.calls++
	d.run.refused = considered - len(chosen)
	d.block.Halt(e)
}
