// Package remask implements the samplers that mask again what they revealed: ReMDM's, WINO and P2.
// They have no likelihood; their laws on small worlds are computed by enumerating outcomes.
package remask

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// remdm is the law of ReMDM's decoders. The positions that change in a step do not depend on the
// rows, but the tokens drawn do, and [RemaskConf] depends on these. Given positions are never masked.
type remdm struct {
	steps []RemaskStep
	conf  bool
	// nucleus, if below 1, keeps the most probable tokens while their probabilities sum to at most
	// nucleus, and always the first.
	nucleus float64
}

// RemaskStep is a step of a sampler that remasks: the probability that a masked position is
// revealed, the probability that a revealed one is masked, or that is divided among them
// ([RemaskConf]), and the masked fraction at the beginning.
type RemaskStep struct{ Reveal, Remask, Lambda float64 }

// remaskEnd is the last time of ReMDM's grid.
const remaskEnd = 1e-5

// RemaskProbabilities returns the n steps for complete settings; RemaskDFM may have more, since it
// shortens them.
func RemaskProbabilities(set Options, n int) (out []RemaskStep) {
	if set.Remask == RemaskDFM {
		return correctorSteps(n)
	}
	for k := range n {
		t, s := 1-float64(k)*(1-remaskEnd)/float64(n), 1-float64(k+1)*(1-remaskEnd)/float64(n)
		at, as := 1-t, 1-s
		sigma := 0.0
		room := 1.0 // (1−α_s)/α_t, if below 1
		if at > 0 {
			room = min(1, (1-as)/at)
		}
		switch set.Remask {
		case RemaskCap:
			sigma = min(set.Eta, room)
		case RemaskRescale:
			sigma = set.Eta * room
		case RemaskConf:
			out = append(out, RemaskStep{(as - at) / (1 - at), room, t})
			continue
		case RemaskForwardBackward:
			if at > 0 {
				sigma = min((as-at)/at, 1)
			}
		case RemaskLoop:
			switch {
			case t > *set.TOn:
				at, as = at*set.AlphaOn/(1-*set.TOn), as*set.AlphaOn/(1-*set.TOn)
			case t <= *set.TOff:
				at, as = 1 - t*(1-set.AlphaOn) / *set.TOff, 1 - s*(1-set.AlphaOn) / *set.TOff
			default:
				at, as, sigma = set.AlphaOn, set.AlphaOn, set.Eta
			}
		}
		// The last step of forward-backward, of probability 2, reveals all; the 1/N that it masks
		// stay masked.
		out = append(out, RemaskStep{min((as-(1-sigma)*at)/(1-at), 1), sigma, 1 - at})
	}
	return out
}

// correctorSteps returns the steps of the corrector of discrete flow matching, about n.
func correctorSteps(n int) (out []RemaskStep) {
	for t := 1.0; t > (1-remaskEnd)/float64(n); {
		a := 10*math.Pow(t*(1-t), 0.25) + 1
		b, h := a-1, 1/float64(n)
		if t == 1 {
			out = append(out, RemaskStep{h, 0, t})
		} else {
			h = min(h, 1/(a/t+b/(1-t)))
			out = append(out, RemaskStep{a * h / t, b * h / (1 - t), t})
		}
		t -= h
	}
	return out
}

func (law *remdm) Law() samplers.Law {
	return samplers.Unknown{Why: "it masks again what it revealed"}
}

// ExpectedCalls is exact, but with confidences: each position is masked and revealed independently,
// whatever the rows.
func (law *remdm) ExpectedCalls(d int) (calls, finish float64, err error) {
	if law.conf {
		return math.NaN(), math.NaN(), nil
	}
	// none returns the probability that an event of probability p happens at none of d positions.
	none := func(p float64) float64 { return math.Pow(1-p, float64(d)) }
	masked := 1.0
	for _, s := range law.steps {
		calls += 1 - none(masked*s.Reveal)
		masked += (1-masked)*s.Remask - masked*s.Reveal
	}
	return calls, 1 - none(masked), nil
}

func (law *remdm) Head(draw.Settings) samplers.Head {
	if law.nucleus < 1 {
		return samplers.HeadRows
	}
	return samplers.HeadBest
}

func (law *remdm) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	return &remasked{law: law, canvas: c, draws: d, free: free, ids: slices.Clone(c.IDs()), confidence: make(map[int]float64)}, nil
}

// remasked is the decoder of a sequence. A step that reveals nothing needs no rows: its positions
// are masked in the next call.
type remasked struct {
	law    *remdm
	canvas *samplers.Canvas
	draws  *draw.Numbers
	free   []int
	// ids is the canvas with the masks of the next call. before lists the positions masked before
	// the call reveals, and after those that the step masks.
	ids           []int64
	before, after []int
	step          int
	finishing     bool
	revealed      []int
	uniforms      []float64
	// confidence is the probability with which the token at a position was drawn.
	confidence map[int]float64
	p          []float64
	order      []int
}

func (d *remasked) masked(l int) bool { return int(d.ids[l]) == d.canvas.Spec().Mask }

func (d *remasked) allMasked() []int {
	return slices.DeleteFunc(slices.Clone(d.free), func(l int) bool { return !d.masked(l) })
}

// unsure returns Σ e^(−p) over the drawn tokens on the canvas.
func (d *remasked) unsure() (sum float64) {
	for _, l := range d.free {
		if !d.masked(l) {
			sum += math.Exp(-d.confidence[l])
		}
	}
	return sum
}

// probability returns the probability that a position changes in a step.
func (d *remasked) probability(s RemaskStep, l int, unsure float64) float64 {
	switch {
	case d.masked(l):
		return s.Reveal
	case d.law.conf:
		return s.Remask * math.Exp(-d.confidence[l]) / unsure
	}
	return s.Remask
}

// move makes a step.
func (d *remasked) move() {
	s := d.law.steps[d.step]
	total := d.unsure()
	d.revealed, d.after = d.revealed[:0], d.after[:0]
	for _, l := range d.free {
		switch u := d.draws.Step(l, d.step); {
		case u >= d.probability(s, l, total):
		case d.masked(l):
			d.revealed = append(d.revealed, l)
		default:
			d.after = append(d.after, l)
		}
	}
	d.step++
}

func (d *remasked) Ask(a *samplers.Ask) bool {
	if d.finishing {
		return false
	}
	copy(d.ids, d.canvas.IDs()) // a token may have been refused
	d.before, d.revealed = d.before[:0], d.revealed[:0]
	for len(d.revealed) == 0 && d.step < len(d.law.steps) {
		d.move()
		if len(d.revealed) == 0 {
			for _, l := range d.after {
				d.ids[l] = int64(d.canvas.Spec().Mask)
			}
			d.before = append(d.before, d.after...)
		}
	}
	a.Step = d.step - 1
	lambda := d.law.steps[max(d.step-1, 0)].Lambda
	if len(d.revealed) == 0 {
		if d.revealed = d.allMasked(); len(d.revealed) == 0 {
			return false
		}
		d.finishing, a.Finish, a.Step, a.Top, lambda = true, true, -1, 1, remaskEnd
	}
	d.uniforms = d.uniforms[:0]
	if d.law.nucleus == 1 {
		a.Head = samplers.HeadBest
		d.uniforms = d.draws.Tokens(d.uniforms, d.revealed)
	} else {
		a.Top = 0
	}
	a.Rows = append(a.Rows, samplers.AskRow{Canvas: d.ids, Positions: d.revealed, Theta: d.canvas.Theta(lambda), Uniforms: d.uniforms})
	return true
}

func (d *remasked) Take(r samplers.Rows, e *samplers.Edit) error {
	for _, l := range d.before {
		e.Mask(l)
	}
	for i, l := range d.revealed {
		b, err := d.token(r, i, l)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, b.Token, b.LogP)
		d.ids[l], d.confidence[l] = int64(b.Token), math.Exp(b.LogP)
	}
	if !d.finishing {
		for _, l := range d.after {
			e.Mask(l)
			d.ids[l] = int64(d.canvas.Spec().Mask)
		}
	}
	return nil
}

// token returns the token of the i-th position of the call: drawn, or the most probable when finishing.
func (d *remasked) token(r samplers.Rows, i, l int) (draw.Best, error) {
	if d.law.nucleus == 1 {
		b, err := r.Best(0, i)
		if err == nil && d.finishing {
			b.Token, b.LogP = b.Top[0].Token, 0
		}
		return b, err
	}
	d.p = slices.Grow(d.p[:0], r.Columns())[:r.Columns()]
	if err := r.Probabilities(d.p, 0, i); err != nil {
		return draw.Best{}, err
	}
	order, sum := d.kept(d.p)
	if d.finishing {
		return draw.Best{Token: order[0]}, nil
	}
	target := d.draws.Token(l) * sum
	at := 0
	for below := d.p[order[0]]; below <= target && at < len(order)-1; below += d.p[order[at]] {
		at++
	}
	token := order[at]
	return draw.Best{Token: token, LogP: math.Log(d.p[token] / sum)}, nil
}

// kept returns the tokens in the nucleus, the likeliest first, and their sum. Unlike with top-p,
// the token that crosses is excluded.
func (d *remasked) kept(p []float64) (order []int, sum float64) {
	d.order = d.order[:0]
	for a, p := range p {
		if p > 0 {
			d.order = append(d.order, a)
		}
	}
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	sum, n := p[d.order[0]], 1
	for n < len(d.order) && sum+p[d.order[n]] <= d.law.nucleus {
		sum += p[d.order[n]]
		n++
	}
	return d.order[:n], sum
}

func (law *remdm) MostCalls(samplers.Spec, int, int) int { return len(law.steps) + 1 }
