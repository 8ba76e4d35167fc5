package samplers

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/samplers/schedule"
)

// fhs is the first-hitting sampler of Zheng et al., arXiv 2409.02908, Algorithm 1
// of "Sharp Convergence Rates for Masked Diffusion Models": d blocks of one
// position. From n masked positions at masked fraction λ_n the next reveal is at
// λ_{n−1} = λ_n·u^(1/n), its position uniform among the masked, its token from the
// network's row on the state before the reveal, asked at the time of the reveal.
type fhs struct{}

func (fhs) plan(p *Plan) error {
	for i, r := range p.reveals {
		p.begin(r.u, schedule.ThetaOf(r.u), i)
		p.add(r.position, r.u)
	}
	return nil
}

func (fhs) calls(d int) (blocks, left float64, err error) { return float64(d), 0, nil }

// parallelFHS reveals FHS's order in groups (Zheng et al., Algorithm 2): one call a
// group, asked at the group's first hitting time, all tokens of it independent.
type parallelFHS struct{ sizes schedule.Sizes }

func (s parallelFHS) plan(p *Plan) error {
	sizes, err := s.sizes.Of(len(p.reveals))
	if err != nil {
		return err
	}
	at := 0
	for i, size := range sizes {
		first := p.reveals[at]
		p.begin(first.u, schedule.ThetaOf(first.u), i)
		for _, r := range p.reveals[at : at+size] {
			p.add(r.position, r.u)
		}
		at += size
	}
	return nil
}

func (s parallelFHS) calls(d int) (blocks, left float64, err error) {
	sizes, err := s.sizes.Of(d)
	return float64(len(sizes)), 0, err
}

// ordered reveals one position a call in a given order: any-order autoregressive
// sampling. There is no time in it. A time-conditioned network is asked at
// λ = m/(d+1) with m of d free positions masked: the mean of the λ at which FHS asks
// with as many masked (Lemma 6 of the paper), and never 0 or 1.
type ordered struct {
	order schedule.Order
	// list is an explicit order over positions of the canvas.
	list []int
}

func (s ordered) plan(p *Plan) error {
	at := func(r reveal) int { return r.position }
	switch s.order {
	case schedule.RightToLeft:
		at = func(r reveal) int { return -r.position }
	case schedule.ListedOrder:
		listed := make(map[int]int) // from 1 on: those that are left out come first
		for i, l := range s.list {
			listed[l] = i + 1
		}
		at = func(r reveal) int { return listed[r.position] }
	}
	if s.order != schedule.RandomOrder {
		slices.SortFunc(p.reveals, func(a, b reveal) int { return cmp.Or(at(a)-at(b), a.position-b.position) })
	}
	if s.order == schedule.ListedOrder && len(p.reveals) > 0 && at(p.reveals[0]) == 0 {
		return fmt.Errorf("the order leaves out position %d, which is free: list every free position", p.reveals[0].position)
	}
	d := len(p.reveals)
	for i, r := range p.reveals {
		lambda := float64(d-i) / float64(d+1)
		p.begin(lambda, schedule.ThetaOf(lambda), i)
		p.add(r.position, lambda)
	}
	return nil
}

func (s ordered) calls(d int) (blocks, left float64, err error) { return float64(d), 0, nil }

// ones are the sizes of blocks of one.
func ones(d int) ([]int, error) {
	out := make([]int, d)
	for i := range out {
		out[i] = 1
	}
	return out, nil
}

func (fhs) declare() Law { return Law{Sizes: ones, OneByOne: true, Clock: AtHit} }

func (s parallelFHS) declare() Law { return Law{Sizes: s.sizes.Of, Clock: AtHit} }

func (s ordered) declare() Law {
	return Law{Sizes: ones, OneByOne: true, Fixed: s.order != schedule.RandomOrder, Clock: AtCount}
}
