// Package plan has the samplers whose reveals are drawn before the network is asked: a [Planner] is
// a law of plans, and a [Method] fills canvases by them, with look-ahead where one position is
// revealed a call. A token may be drawn from the rows of two calls ([draw.Mix]). Raw scores on the same
// grids, whose reveals do depend on rows, are here too.
package plan

import (
	"cmp"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Block is the reveals of one network call.
type Block struct {
	// Positions are revealed by this call, in the order of their times.
	Positions []int
	// Hits are the masked fractions λ = 1 − e^(−θ) at which each is revealed,
	// falling. Under a grid they lie inside the step.
	Hits []float64
	// Lambda and Theta are the masked fraction and the −log α at which a
	// time-conditioned network is asked.
	Lambda, Theta float64
	// Step is the step of the grid, counted with the empty ones, or the number of the
	// block where there is no grid.
	Step int
	// Ahead are positions of the next block whose rows this call must return too,
	// for a fill with history. A block may have no Positions but Ahead: a call that
	// reveals nothing, at a time of which the next block needs rows.
	Ahead []int
	// Weight is 0 for a plain fill. With another, tokens are drawn from
	// [draw.Mix](p, p′, Weight, Floor), p the row of this call and p′ the row that the call before
	// gave at the same position, both as probabilities after exclusion, temperature
	// and truncation.
	Weight float64
	// Floor is κ in 0..1: no probability falls below κ times that of this call's row.
	Floor float64
}

// Plan is which network call reveals which positions, and when. It holds no
// block that asks for nothing. A plan is drawn by [Method.Plan] and may be drawn again into the
// same memory. A [Planner] makes it of Reveals by Begin and Add.
type Plan struct {
	Blocks []Block
	// Left are the free positions that no block reveals, ascending; LeftLambda and
	// LeftTheta say when the sampler stopped, which is when a finishing call asks
	// for them.
	Left                  []int
	LeftLambda, LeftTheta float64
	// Events is the number of events of a sampler that simulates them, reveals
	// included; 0 for others. Those that reveal nothing take no network call.
	Events int

	// Reveals are the free positions, in the order in which they are revealed.
	Reveals []Reveal

	positions []int
	hits      []float64
	// thinned is the mean of the number of events that reveal nothing.
	thinned float64
}

// Reveal is a free position with its uniform U: the smaller U, the later.
type Reveal struct {
	U        float64
	Position int
}

// A Planner is a law of plans: when positions are revealed that the network has no say in. Its
// methods must not change it.
type Planner interface {
	// Plan adds blocks and left positions to an empty plan, whose Reveals are sorted by
	// falling U. It takes no other random numbers.
	Plan(p *Plan) error
	// Calls returns the exact expected number of blocks over d free positions, and the
	// probability that some are left.
	Calls(d int) (blocks, left float64, err error)
	// Law declares what likelihoods, bounds and certificates need to know of the plans.
	Law() samplers.Law
}

// MostListed is the greatest number of plans over which a likelihood sums: those of 7! orders.
const MostListed = 5040

// A Listed planner has so few plans that the probability of a text is a sum over all of them. They
// are equally probable.
type Listed interface {
	Planner
	// Plans is the number of plans over d free positions, +Inf where they are not listed.
	Plans(d int) float64
	// List adds the blocks of plan number i over the free positions, ascending, to an empty plan,
	// whose Reveals are those positions. It sets what Reveals it needs.
	List(p *Plan, i int) error
}

// draw makes a plan for the free positions, which are ascending. It takes one
// uniform a free position, in that order.
//
// That is all the randomness of every plan, but for the number of events that reveal
// nothing, which has a source of its own. Sorted
// by falling U, positions are in uniform order, and the largest of m uniforms on (0, λ) is distributed as
// λ·u^(1/m): the falling U's have just the law of the λ's of Algorithm 1 of the paper,
// λ_{n−1} = λ_n·u^(1/n) from λ_d = 1, with the position uniform among the masked. A
// grid sampler, which leaves a position masked with probability S_k up to step k,
// reveals it in the step with S_{k+1} ≤ U < S_k.
func (p *Plan) draw(law Planner, u draw.Uniforms, free []int) error {
	p.reset(free)
	for i := range p.Reveals {
		p.Reveals[i].U = u.Plan(p.Reveals[i].Position)
	}
	slices.SortFunc(p.Reveals, func(a, b Reveal) int { return cmp.Or(cmp.Compare(b.U, a.U), a.Position-b.Position) })
	if err := law.Plan(p); err != nil {
		p.reset(nil)
		return err
	}
	slices.Sort(p.Left)
	if p.thinned > 0 {
		p.Events += poisson(p.thinned, u.Events())
	}
	return nil
}

// reset leaves nothing of a plan but its memory, and the free positions to be revealed.
func (p *Plan) reset(free []int) {
	*p = Plan{Blocks: p.Blocks[:0], Left: p.Left[:0], Reveals: p.Reveals[:0], positions: p.positions[:0], hits: p.hits[:0]}
	for _, l := range free {
		p.Reveals = append(p.Reveals, Reveal{Position: l})
	}
	// Blocks share these two: they must not grow while blocks point into them.
	p.positions, p.hits = slices.Grow(p.positions, len(free)), slices.Grow(p.hits, len(free))
}

// Begin starts a block, at whose masked fraction and −log α the network is asked.
func (p *Plan) Begin(lambda, theta float64, step int) {
	p.Blocks = append(p.Blocks, Block{Lambda: lambda, Theta: theta, Step: step})
}

// Add puts a reveal at the masked fraction hit into the last block.
func (p *Plan) Add(position int, hit float64) {
	p.positions, p.hits = append(p.positions, position), append(p.hits, hit)
	b := &p.Blocks[len(p.Blocks)-1]
	n := len(b.Positions) + 1
	b.Positions = p.positions[len(p.positions)-n : len(p.positions) : len(p.positions)]
	b.Hits = p.hits[len(p.hits)-n : len(p.hits) : len(p.hits)]
}

// AddGroup adds a block of positions, with the masked fraction of [samplers.AtCount]: m/(d+1) with m of d free
// positions masked, the mean of those at which fhs asks with as many.
func (p *Plan) AddGroup(positions ...int) {
	d := len(p.Reveals)
	lambda := float64(d-len(p.positions)) / float64(d+1)
	p.Begin(lambda, schedule.ThetaOf(lambda), len(p.Blocks))
	for _, position := range positions {
		p.Add(position, lambda)
	}
}

// given is a law given that every U is at least S_N, which is to be revealed.
type given struct {
	Planner
	left float64
}

func (g given) Plan(p *Plan) error {
	for i := range p.Reveals {
		u := &p.Reveals[i].U
		*u = g.left + (1-g.left)**u // rises with u: the order stays
	}
	return g.Planner.Plan(p)
}
