// Package causal implements the samplers of the causal law of a network that has two
// ([samplers.Spec].Causal): token after token, or several at once, drafted by the rows of a block.
package causal

import (
	"errors"
	"fmt"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Sampler is a sampler's description with its constructor, which fills in the defaults of the options.
type Sampler struct {
	samplers.Descriptor
	New func(o *Options, stop *int, b samplers.Build) (samplers.Kernel, error)
}

// Causal is the sampler causal.
var Causal = Sampler{samplers.Descriptor{
	Kind:    samplers.ByOrder,
	Name:    "causal",
	Summary: "left to right from causal rows, of a network that has them",
	Law: "For networks with two laws: free positions are filled from left to right, each from the causal row of the position before it, which sees the tokens up to itself and nothing behind. " +
		"On such a network autoregressive and ar mean this sampler. With stop, the rest is filled with that token as soon as it is drawn.",
	Calls:  "d",
	Cost:   "d network calls for d free positions, of one position each with kept keys and values.",
	Source: "The causal law of Nemotron-Labs-Diffusion.",
}, func(_ *Options, stop *int, b samplers.Build) (samplers.Kernel, error) {
	return newKernel(&Options{Window: 1}, stop, b)
}}

// kernel is that of both samplers, whose ids are the same.
type kernel struct {
	begin pace
	stop  *int
}

func newKernel(o *Options, stop *int, b samplers.Build) (samplers.Kernel, error) {
	if b.Spec.Columns > 0 && !b.Spec.Causal {
		return nil, fault.Errorf("samplers", "the sampler needs a network with causal rows beside those of blocks, which this one does not have")
	}
	return &kernel{newPace(o, b.Spec), stop}, nil
}

func (k *kernel) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	if len(free) > 0 && free[0] == 0 {
		return nil, errors.New("position 0 is free: causal rows predict the token after them, so give the first token")
	}
	return &decoder{kernel: k, canvas: c, draws: d, free: free, pace: k.begin}, nil
}

func (k *kernel) Law() samplers.Law                { return samplers.ByCausal{Stop: k.stop} }
func (k *kernel) Head(draw.Settings) samplers.Head { return samplers.HeadBest }

func (k *kernel) MostCalls(_ samplers.Spec, d, _ int) int {
	return min(k.begin.most, 2) * d
}

// decoder is that of a sequence. Without drafts its call is about the first of free; with drafts, which a
// call about a block gave, it is about these positions and the one behind, all causal.
type decoder struct {
	*kernel
	canvas *samplers.Canvas
	draws  *draw.Numbers
	// free lists the positions to fill.
	free []int
	pace pace
	// drafting reports whether the call is about a block, of which asked are free; drafts are the tokens
	// drawn there, none before.
	drafting bool
	asked    []int
	drafts   []int64
	begun    bool
	uniforms []float64
	ids      []int64
}

func (d *decoder) Ask(a *samplers.Ask) bool {
	if len(d.free) == 0 {
		return false
	}
	row := samplers.AskRow{Block: samplers.Span{From: d.free[0], To: d.free[0]}}
	if d.drafting = d.draft(&row); !d.drafting {
		d.check(&row)
	}
	d.uniforms = d.draws.Tokens(d.uniforms[:0], d.asked)
	row.Positions, row.Uniforms = d.asked, d.uniforms
	a.Head, a.Rows = samplers.HeadBest, append(a.Rows, row)
	return true
}

// check makes a request about causal rows: those of the drafts and of the next position.
func (d *decoder) check(row *samplers.AskRow) {
	d.asked = append(d.asked[:0], d.free[0])
	if len(d.drafts) == 0 {
		return
	}
	d.ids = append(d.ids[:0], d.canvas.IDs()...)
	for i, token := range d.drafts {
		d.ids[d.free[i]] = token
	}
	n := len(d.drafts)
	end := d.free[n-1] + 1
	row.Canvas, row.Block = d.ids, samplers.Span{From: end, To: end}
	if n < len(d.free) && d.free[n] == end {
		n++
	}
	d.asked = append(d.asked[:0], d.free[:n]...)
}

func (d *decoder) Take(r samplers.Rows, e *samplers.Edit) error {
	if d.drafting {
		d.drafted(r)
		return nil
	}
	right := 0
	for i, l := range d.asked {
		got, err := r.Best(0, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, got.Token, got.LogP)
		d.free = d.free[1:]
		if d.stop != nil && got.Token == *d.stop {
			for _, l := range d.free {
				e.Set(l, got.Token, 0)
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
	d.begun, d.drafts = true, d.drafts[:0]
	return nil
}
