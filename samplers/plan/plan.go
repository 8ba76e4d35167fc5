// Package plan implements the samplers whose reveals are drawn before the first network call. A
// [Planner] is a distribution of plans. A [Method] fills canvases by plans, with look-ahead if each
// call reveals one position.
package plan

import (
	"cmp"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Block holds the reveals of one network call.
type Block struct {
	// Positions are the positions that this call reveals, in the order of their times.
	Positions []int
	// Hits are the masked fractions λ = 1 − e^(−θ) at which they are revealed, decreasing. With a
	// grid they lie inside the step.
	Hits []float64
	// Lambda and Theta are the masked fraction and the −log α at which a time-conditioned network
	// is queried.
	Lambda, Theta float64
	// Step is the step of the grid, counting empty ones, or the number of the block without a grid.
	Step int
}

// Plan determines which network call reveals which positions, and when. It has no empty block.
// [Method.Plan] draws a plan, and may draw another into the same memory. A [Planner]
// builds it from Reveals with Begin and Add.
type Plan struct {
	Blocks []Block
	// Left lists the free positions that no block reveals, ascending. LeftLambda and LeftTheta are
	// the time at which the sampler stopped, which is that of a finishing call.
	Left                  []int
	LeftLambda, LeftTheta float64

	// Reveals lists the free positions in the order in which they are revealed.
	Reveals []Reveal

	positions []int
	hits      []float64
}

// Reveal is a free position with its uniform U. Positions with smaller U are revealed later.
type Reveal struct {
	U        float64
	Position int
}

// A Planner is a distribution of plans: the order and times of reveals, independent of the network.
// Its methods must not change it.
type Planner interface {
	// Plan adds blocks and left positions to an empty plan, whose Reveals are sorted by decreasing
	// U. It uses no other random numbers.
	Plan(p *Plan) error
	// Calls returns the exact expected number of blocks over d free positions, and the probability
	// that some positions are left.
	Calls(d int) (blocks, left float64, err error)
	// Law returns the law of the texts, for likelihoods, bounds and certificates.
	Law() samplers.Planned
}

// ListLaw returns the law of a planner with so few plans that the probability of a text is a sum
// over all of them. plans returns their number for d free positions; they are equally probable. list
// adds the blocks of plan number i to an empty plan, whose Reveals are the free positions, ascending.
func ListLaw(plans func(d int) float64, list func(p *Plan, i int) error) samplers.ByList {
	return samplers.ByList{Plans: plans, Groups: func(free []int, i int) (groups [][]int, err error) {
		var p Plan
		p.reset(free)
		err = fault.Join("samplers", list(&p, i))
		for _, b := range p.Blocks {
			groups = append(groups, b.Positions)
		}
		return groups, err
	}}
}

// draw makes a plan for the free positions, which are ascending. It uses one uniform for each free
// position, in that order; there is no other randomness in a plan.
//
// Sorted by decreasing U, positions are in uniform order. The largest of m uniforms on (0, λ) is
// distributed as λ·u^(1/m), so the sorted U's are distributed as the λ's of Algorithm 1 of the
// paper, λ_{n−1} = λ_n·u^(1/n) from λ_d = 1, with the position uniform among the masked. A grid
// sampler, which leaves a position masked with probability S_k up to step k, reveals it in the step
// with S_{k+1} ≤ U < S_k.
func (p *Plan) draw(planner Planner, u draw.Uniforms, free []int) error {
	p.reset(free)
	for i := range p.Reveals {
		p.Reveals[i].U = u.Plan(p.Reveals[i].Position)
	}
	slices.SortFunc(p.Reveals, func(a, b Reveal) int { return cmp.Or(cmp.Compare(b.U, a.U), a.Position-b.Position) })
	if err := planner.Plan(p); err != nil {
		p.reset(nil)
		return err
	}
	slices.Sort(p.Left)
	return nil
}

// reset empties a plan, keeping its memory, and sets Reveals to the free positions.
func (p *Plan) reset(free []int) {
	*p = Plan{Blocks: p.Blocks[:0], Left: p.Left[:0], Reveals: p.Reveals[:0], positions: p.positions[:0], hits: p.hits[:0]}
	for _, l := range free {
		p.Reveals = append(p.Reveals, Reveal{Position: l})
	}
	// Blocks share these two slices, which must not grow while blocks point into them.
	p.positions, p.hits = slices.Grow(p.positions, len(free)), slices.Grow(p.hits, len(free))
}

// Begin starts a block, for which the network is queried at a masked fraction and −log α.
func (p *Plan) Begin(lambda, theta float64, step int) {
	p.Blocks = append(p.Blocks, Block{Lambda: lambda, Theta: theta, Step: step})
}

// Add adds a reveal, at masked fraction hit, to the last block.
func (p *Plan) Add(position int, hit float64) {
	p.positions, p.hits = append(p.positions, position), append(p.hits, hit)
	b := &p.Blocks[len(p.Blocks)-1]
	n := len(b.Positions) + 1
	b.Positions = p.positions[len(p.positions)-n : len(p.positions) : len(p.positions)]
	b.Hits = p.hits[len(p.hits)-n : len(p.hits) : len(p.hits)]
}

// AddGroup adds a block of positions, with the masked fraction of [samplers.ByCount].
func (p *Plan) AddGroup(positions ...int) {
	d := len(p.Reveals)
	lambda := samplers.ByCount(d)(d - len(p.positions))
	p.Begin(lambda, schedule.ThetaOf(lambda), len(p.Blocks))
	for _, position := range positions {
		p.Add(position, lambda)
	}
}

// given is a planner conditioned on every U being at least S_N, so that all positions are revealed.
type given struct {
	Planner
	left float64
}

func (g given) Plan(p *Plan) error {
	for i := range p.Reveals {
		u := &p.Reveals[i].U
		*u = g.left + (1-g.left)**u // increases with u: the order stays
	}
	return g.Planner.Plan(p)
}
