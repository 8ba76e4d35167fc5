package samplers

import "mdmgen/samplers/schedule"

// lookBack is paired FHS: parallel FHS with a fill of second order. Blocks are taken two by
// two, of sizes a and b; tokens of the second of a pair are drawn from p + w·(p − p′), p′ being
// the row of the call before, with a floor under it. The constant
// w = (a+b)(a+b−1)/(2ab) − 1 makes the mean over pairs of positions of what the
// second block learns from the first that of a sequential draw.
//
// A time-conditioned network is asked at λ = m/d, m of d free positions being masked.
type lookBack struct {
	sizes schedule.Sizes
	floor float64
	// most is the greatest λ at which the network is asked: 1, or the end of its noise
	// where it has no row there.
	most float64
}

func (s lookBack) plan(p *Plan) error {
	d := len(p.reveals)
	sizes, err := s.sizes.Of(d)
	if err != nil {
		return err
	}
	at := 0
	for n, size := range sizes {
		lambda := min(float64(d-at)/float64(d), s.most)
		p.begin(lambda, schedule.ThetaOf(lambda), n)
		for range size {
			p.add(p.reveals[at].position, min(float64(d-at)/float64(d), s.most))
			at++
		}
	}
	for n := 1; n < len(sizes); n += 2 {
		if a, b := float64(sizes[n-1]), float64(sizes[n]); a*b > 1 {
			p.lookBack(n, (a+b)*(a+b-1)/(2*a*b)-1, s.floor)
		}
	}
	return nil
}

func (s lookBack) calls(d int) (blocks, left float64, err error) {
	return parallelFHS{s.sizes}.calls(d)
}

// lookBack lets block n look back at the one before it.
func (p *Plan) lookBack(n int, weight, floor float64) {
	b := &p.Blocks[n]
	p.Blocks[n-1].Ahead = b.Positions
	b.Weight, b.Floor = weight, floor
}

func (s lookBack) declare() Law {
	return Law{Sizes: s.sizes.Of, LookBack: true, Floor: s.floor, Clock: AtCount}
}
