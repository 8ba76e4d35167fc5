// Package particles draws sequences in proportion to a target from which they cannot be drawn token
// by token. Several particles fill the canvas together, and those whose paths the target makes
// likelier than they were drawn replace others.
package particles

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Most is the greatest number of particles.
const Most = 1024

// Option describes the option.
var Option = samplers.Option{Name: "particles", Default: "1", Help: "fill `N` canvases side by side, and resample them by weight", Flag: true, Least: 1, Most: Most, Whole: true, Unscored: true}

// Around returns k with n particles. A particle is a canvas that k fills, with its own plan and
// random numbers. A path, its order with its tokens, is drawn with probability q, a product over
// tokens of the distributions that they were drawn from: the network's row, after temperature,
// truncation and rules. The target is proportional to
//
//	P(order) · Π μ(token)^(1/T)
//
// on the paths with positive q, where μ is the network's row and T the temperature. If rows are the
// conditionals of one distribution, this is that distribution, raised to 1/T or restricted to what
// the rules allow. The weight of a particle is the ratio of the target to q so far. When Σ w² of
// the normalised weights exceeds 2/N, N particles are drawn in proportion to their weights
// (systematically), and at the end one is. The law converges to the target with an error of order
// 1/N. The report contains an unbiased estimate of the target's sum Z.
//
// The algorithm is the bootstrap filter on reveals: Naesseth, Lindsten and Schön, "Elements of
// sequential Monte Carlo" (arXiv 1903.04797). For masked diffusion see arXiv 2507.08390 and 2602.01849.
func Around(k samplers.Kernel, n int) samplers.Kernel { return law{k, n} }

type law struct {
	samplers.Kernel
	n int
}

func (law) Law() samplers.Law {
	return samplers.Law{Why: "a sequence is one of several particles, which are resampled by their paths' probabilities"}
}

func (law) Head(draw.Settings) samplers.Head { return samplers.HeadRows }

func (l law) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	v := c.Spec().Vocabulary
	own, err := draw.NewCategorical(v, draw.Settings{})
	if err != nil {
		return nil, err
	}
	s := &swarm{source: d.Events(), power: 1 / c.Categorical().Settings().AtTemperature(), own: own, all: make([]particle, l.n)}
	for i := range s.all {
		p := &s.all[i]
		p.canvas, p.edit = c.Fork(c.IDs())
		s.renew(p)
		decoder, err := l.Kernel.Fill(p.canvas, p.draws, slices.Clone(free))
		if err != nil {
			return nil, err
		}
		var forks bool
		if p.decoder, forks = decoder.(samplers.Forker); !forks {
			return nil, errors.New("particles: the sampler's state cannot be copied")
		}
	}
	s.next()
	return s, nil
}

// reveal is a token that was put on a canvas.
type reveal struct {
	position, token int
	logP            float64
}

// particle is a canvas that is being filled.
type particle struct {
	canvas  *samplers.Canvas
	edit    *samplers.Edit
	draws   *draw.Numbers
	decoder samplers.Forker
	// ask is its next request, empty if it is filled; row is its canvas in the call.
	ask  samplers.Ask
	path []reveal
	// weight is the logarithm of the ratio of the target to the path's probability since the last
	// resampling.
	weight float64
}

// swarm is the decoder of a sequence.
type swarm struct {
	source rand.Source
	power  float64
	own    *draw.Categorical // the network's rows
	all    []particle
	going  []*particle // those in the call
	logZ   float64
	calls  int
	chosen samplers.Decoder
}

// Report adds the report of the chosen particle, and the logarithm of the estimate of Z.
func (s *swarm) Report(r *samplers.Result) {
	samplers.Report(s.chosen, r)
	r.LogZ = new(s.logZ)
}

// renew gives a particle unused random numbers.
func (s *swarm) renew(p *particle) {
	p.draws = draw.NewNumbers(s.source.Uint64(), s.source.Uint64())
}

// next collects the particles' requests.
func (s *swarm) next() {
	s.going = s.going[:0]
	for i := range s.all {
		p := &s.all[i]
		p.ask = samplers.Ask{}
		if p.decoder.Ask(&p.ask) {
			s.going = append(s.going, p)
		}
	}
}

func (s *swarm) Ask(a *samplers.Ask) bool {
	a.Finish = true
	for _, p := range s.going {
		a.Finish = a.Finish && p.ask.Finish
		for _, r := range p.ask.Rows {
			r.Canvas, r.Uniforms = r.IDs(p.canvas), nil
			a.Rows = append(a.Rows, r)
		}
	}
	a.Step = s.calls
	s.calls++
	return len(s.going) > 0
}

func (s *swarm) Take(r samplers.Rows, e *samplers.Edit) error {
	for i, p := range s.going {
		if err := s.advance(p, r, i); err != nil {
			return err
		}
	}
	if s.few() {
		s.resample()
	}
	if s.next(); len(s.going) > 0 {
		return nil
	}
	chosen := &s.all[s.weigh(1)[0]]
	s.chosen = chosen.decoder
	for _, x := range chosen.path {
		e.Set(x.position, x.token, x.logP)
	}
	return nil
}

// advance passes a particle its row, the i-th of the call.
func (s *swarm) advance(p *particle, r samplers.Rows, i int) error {
	rows, err := s.only(p, r, i)
	if err != nil {
		return err
	}
	*p.edit.Step() = samplers.Step{}
	if err := p.decoder.Take(rows, p.edit); err != nil {
		return err
	}
	if err := p.edit.Err(); err != nil {
		return err
	}
	step := p.edit.Step()
	for j, l := range step.Positions {
		at := slices.Index(p.ask.Rows[0].Positions, l)
		row := r.Row(i, at)
		norm, err := s.own.LogSum(row)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		p.path = append(p.path, reveal{l, step.Tokens[j], step.LogP[j]})
		p.weight += s.power*(row.At(step.Tokens[j])-norm) - step.LogP[j]
	}
	return nil
}

// only returns the answer to a particle's request, with the requested head.
func (s *swarm) only(p *particle, r samplers.Rows, i int) (samplers.Rows, error) {
	asked := p.ask.Rows[0]
	data := draw.Row{}
	best := make([]draw.Result, len(asked.Positions))
	for j := range asked.Positions {
		row := r.Row(i, j)
		data = data.Append(row)
		if p.ask.Head == samplers.HeadBest {
			best[j].Best, best[j].Err = r.Categorical().Best(row, asked.Uniforms[j], p.ask.Top)
		}
	}
	return samplers.NewRows(cmp.Or(p.ask.Head, samplers.HeadRows), r.Columns(), []draw.Row{data}, [][]draw.Result{best}, r.Categorical()), nil
}

// shares returns the normalised weights and the logarithm of their mean.
func (s *swarm) shares() (shares []float64, mean float64) {
	top := math.Inf(-1)
	for i := range s.all {
		top = max(top, s.all[i].weight)
	}
	var sum float64
	for i := range s.all {
		x := math.Exp(s.all[i].weight - top)
		shares, sum = append(shares, x), sum+x
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares, top + math.Log(sum/float64(len(shares)))
}

// few reports whether the effective number of particles is below half of them.
func (s *swarm) few() bool {
	shares, _ := s.shares()
	var squares float64
	for _, x := range shares {
		squares += x * x
	}
	return squares*float64(len(shares)) > 2
}

// weigh draws n particles in proportion to their weights, and adds the mean weight to Z. The k-th
// is the particle at (k + u)/n of the sum of the weights, with one uniform u.
func (s *swarm) weigh(n int) (drawn []int) {
	shares, mean := s.shares()
	s.logZ += mean
	u := rand.New(s.source).Float64()
	i, sum := 0, shares[0]
	for k := range n {
		for i < len(shares)-1 && sum*float64(n) <= float64(k)+u {
			i++
			sum += shares[i]
		}
		drawn = append(drawn, i)
	}
	return drawn
}

// resample replaces the particles by draws from them.
func (s *swarm) resample() {
	var next []particle
	for _, i := range s.weigh(len(s.all)) {
		p := s.all[i]
		p.canvas, p.edit = p.canvas.Fork(p.canvas.IDs())
		s.renew(&p)
		p.decoder = p.decoder.Fork(p.canvas, p.draws).(samplers.Forker)
		p.path, p.weight, p.ask = slices.Clone(p.path), 0, samplers.Ask{}
		next = append(next, p)
	}
	s.all = next
}
