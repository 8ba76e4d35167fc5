// Package causal implements the samplers of the causal law of a network that has two
// ([samplers.Spec].Causal): token after token, or several at once, drafted by the rows of a block.
package causal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Causal describes the sampler causal, which is that of windows of one position.
var Causal = samplers.Descriptor{
	Kind:    samplers.ByOrder,
	Name:    "causal",
	Summary: "left to right from causal rows, of a network that has them",
	Law: "For networks with two laws: free positions are filled from left to right, each from the causal row of the position before it, which sees the tokens up to itself and nothing behind. " +
		"On such a network autoregressive and ar mean this sampler. With stop, the rest is filled with that token as soon as it is drawn.",
	Calls:  "d",
	Cost:   "d network calls for d free positions, of one position each with kept keys and values.",
	Source: "The causal law of Nemotron-Labs-Diffusion.",
}

// Speculate describes the sampler speculate.
var Speculate = samplers.Descriptor{
	Kind:    samplers.ByOrder,
	Name:    "speculate",
	Summary: "causal in fewer calls: drafts by the rows of a block",
	Law: "The ids of causal with the same seed, at any temperature and truncation. A call about a block of window positions, the first of which holds the last token and the others masks, drafts their tokens; a call about causal rows draws them, and what is kept are its draws as long as each is the draft, and one more. " +
		"Both calls draw with the same noise, a function of seed and position.",
	Calls:  "1 to 2d",
	Cost:   "Two calls a round, of window positions each with kept keys and values, for at least one token. The default window follows what was kept, against what a call of more rows costs beside one of one row where that was measured.",
	Source: "Linear self-speculation of Nemotron-Labs-Diffusion; noise: Wiggers and Hoogeboom, ICML 2020.",
	Flags:  []string{"window"},
}

// kernel is that of both samplers, whose ids are the same.
type kernel struct {
	begin pace
	stop  int
}

// New returns the kernel of both samplers. stop is the token after which the rest is filled with it, −1 for
// none.
func New(o Options, stop int, c samplers.Spec) (samplers.Kernel, error) {
	if c.Columns > 0 && !c.Causal {
		return nil, fault.Errorf("samplers", "causal and speculate need a network with causal rows beside those of blocks, which this one does not have")
	}
	begin := pace{least: o.Window, most: cmp.Or(o.Window, most(c)), cost: cmp.Or(o.RowCost, 1./16), right: 2, tried: 2.5, patience: patience}
	return &kernel{begin, stop}, nil
}

func (k *kernel) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	if len(free) > 0 && free[0] == 0 {
		return nil, errors.New("position 0 is free: causal rows predict the token after them, so give the first token")
	}
	return &decoder{kernel: k, canvas: c, draws: d, free: free, pace: k.begin, drafting: true}, nil
}

func (k *kernel) Law() samplers.Law                { return samplers.ByCausal{Stop: k.stop} }
func (k *kernel) Head(draw.Settings) samplers.Head { return samplers.HeadBest }

func (k *kernel) MostCalls(_ samplers.Spec, d, _ int) int {
	return min(k.begin.most, 2) * d
}

// decoder is that of a sequence. A call is about a block, which gives drafts, or about causal rows: those of
// the drafts, if there are any, and of the position behind them.
type decoder struct {
	*kernel
	canvas *samplers.Canvas
	draws  *draw.Numbers
	// free lists the positions to fill; the call is about the first asked of them.
	free  []int
	asked int
	pace  pace
	// drafting reports whether the call is about a block, and drafts are the tokens drawn there. It is true
	// before the first call, which draws a token by its causal row.
	drafting bool
	drafts   []int64
}

func (d *decoder) Ask(a *samplers.Ask) bool {
	if len(d.free) == 0 {
		return false
	}
	var row samplers.AskRow
	if d.drafting = !d.drafting && d.draft(&row); !d.drafting {
		d.check(&row)
	}
	row.Positions = d.free[:d.asked]
	row.Uniforms = d.draws.Tokens(nil, row.Positions)
	a.Head, a.Rows = samplers.HeadBest, append(a.Rows, row)
	return true
}

// draft makes a request about a block. It returns false if a window of one token is best, or nothing is left
// to draft.
func (d *decoder) draft(row *samplers.AskRow) bool {
	if len(d.free) == 1 {
		return false
	}
	from := d.free[0] - 1
	row.Block = samplers.Span{From: from, To: min(from+d.pace.window(), d.canvas.Len())}
	d.asked, _ = slices.BinarySearch(d.free, row.Block.To)
	return d.asked > 0
}

// check makes a request about causal rows: those of the drafts and of the next position.
func (d *decoder) check(row *samplers.AskRow) {
	end := d.free[0]
	row.Canvas = slices.Clone(d.canvas.IDs())
	for i, token := range d.drafts {
		row.Canvas[d.free[i]], end = token, d.free[i]+1
	}
	row.Block = samplers.Span{From: end, To: end}
	d.asked, _ = slices.BinarySearch(d.free, end+1)
}

func (d *decoder) Take(r samplers.Rows, e *samplers.Edit) error {
	if d.drafting {
		for i := range d.asked {
			got, err := r.Best(0, i)
			if err != nil {
				break // From here on nothing is drafted.
			}
			d.drafts = append(d.drafts, int64(got.Token))
		}
		return nil
	}
	right := 0
	for i, l := range d.free[:d.asked] {
		got, err := r.Best(0, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, got.Token, got.LogP)
		d.free = d.free[1:]
		if got.Token == d.stop {
			for _, l := range d.free {
				e.Set(l, d.stop, 0)
			}
			d.free = nil
			return nil
		}
		if i == len(d.drafts) || d.drafts[i] != int64(got.Token) {
			break
		}
		right++
	}
	d.pace.took(right, len(d.drafts))
	d.drafts = d.drafts[:0]
	return nil
}
