package samplers

// lookBack is parallel FHS with a fill of second order: the same blocks, whose tokens are
// drawn from p + w·(p − p′), p′ being the row of the call before, with a floor under it.
//
// Extrapolated (after Zheng et al., arXiv 2409.02908, Algorithm 3): token i = 0, 1, … of block
// n ≥ 2 has w = i/L_{n−1}: how far its count lies beyond this call, in units of the way from
// the call before. Counts stand in for hitting times, whose ratio has a heavy tail.
//
// Paired: blocks are taken two by two, sizes a and b; the second of a pair has the constant
// w = (a+b)(a+b−1)/(2ab) − 1, which makes the mean over pairs of positions of what the
// second block learns from the first that of a sequential draw.
//
// A time-conditioned network is asked at λ = m/d, m of d free positions being masked.
type lookBack struct {
	blocks parallelFHS
	paired bool
	floor  float64
	// most is the greatest λ at which the network is asked: 1, or the end of its noise
	// where it has no row there.
	most float64
}

func (s lookBack) plan(p *Plan) error {
	d := len(p.reveals)
	sizes, err := s.blocks.split(d)
	if err != nil {
		return err
	}
	at := 0
	for n, size := range sizes {
		lambda := min(float64(d-at)/float64(d), s.most)
		p.begin(lambda, thetaOf(lambda), n)
		for range size {
			p.add(p.reveals[at].position, min(float64(d-at)/float64(d), s.most))
			at++
		}
	}
	for n := 1; n < len(sizes); n++ {
		b := &p.Blocks[n]
		a, c := float64(sizes[n-1]), float64(sizes[n])
		switch {
		case !s.paired && sizes[n] > 1:
			p.Blocks[n-1].Ahead = b.Positions[1:]
			p.lookBack(b, s.floor, func(i int) float64 { return float64(i) / a })
		case s.paired && n%2 == 1 && a*c > 1:
			w := (a+c)*(a+c-1)/(2*a*c) - 1
			p.Blocks[n-1].Ahead = b.Positions
			p.lookBack(b, s.floor, func(int) float64 { return w })
		}
	}
	return nil
}

func (s lookBack) calls(d int) (blocks, left float64, err error) { return s.blocks.calls(d) }

// lookBack gives a block the weights of a fill with history. All blocks of a plan share
// the memory of their weights.
func (p *Plan) lookBack(b *Block, floor float64, weight func(i int) float64) {
	from := len(p.weights)
	for i := range b.Positions {
		p.weights = append(p.weights, weight(i))
	}
	b.Weights, b.Floor = p.weights[from:len(p.weights):len(p.weights)], floor
}
