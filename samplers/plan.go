package samplers

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
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

// Plan says which network call reveals which positions, and when. It holds no
// block that asks for nothing. A plan is drawn by [Sampler.Plan] and may be drawn again into the
// same memory.
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

	reveals   []reveal
	positions []int
	hits      []float64
	spare     []Block
	// thinned is the mean of the number of events that reveal nothing.
	thinned float64
}

// reveal is a free position with its uniform U: the smaller U, the later.
type reveal struct {
	u        float64
	position int
}

// planner is a law of plans. It is handed the reveals sorted by falling U, and
// adds blocks and left positions to an empty plan. Its methods must not change it.
type planner interface {
	plan(p *Plan) error
	// calls returns the exact expected number of blocks over d free positions, and
	// the probability that some are left.
	calls(d int) (blocks, left float64, err error)
	// declare says what others need to know of it.
	declare() Law
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
func (p *Plan) draw(law planner, u draw.Uniforms, free []int) error {
	p.reset()
	for _, l := range free {
		p.reveals = append(p.reveals, reveal{u.Plan(l), l})
	}
	slices.SortFunc(p.reveals, func(a, b reveal) int { return cmp.Or(cmp.Compare(b.u, a.u), a.position-b.position) })
	// Blocks share these two: they must not grow while blocks point into them.
	p.positions, p.hits = slices.Grow(p.positions, len(free)), slices.Grow(p.hits, len(free))
	if err := law.plan(p); err != nil {
		p.reset()
		return err
	}
	slices.Sort(p.Left)
	if p.thinned > 0 {
		p.Events += poisson(p.thinned, u.Events())
	}
	return nil
}

func (p *Plan) reset() {
	*p = Plan{Blocks: p.Blocks[:0], Left: p.Left[:0], reveals: p.reveals[:0], positions: p.positions[:0], hits: p.hits[:0], spare: p.spare}
}

// begin starts a block; add puts a reveal into the last one.
func (p *Plan) begin(lambda, theta float64, step int) {
	p.Blocks = append(p.Blocks, Block{Lambda: lambda, Theta: theta, Step: step})
}

func (p *Plan) add(position int, hit float64) {
	p.positions, p.hits = append(p.positions, position), append(p.hits, hit)
	b := &p.Blocks[len(p.Blocks)-1]
	n := len(b.Positions) + 1
	b.Positions = p.positions[len(p.positions)-n : len(p.positions) : len(p.positions)]
	b.Hits = p.hits[len(p.hits)-n : len(p.hits) : len(p.hits)]
}

// PlanRevealed draws a plan into p given that it leaves nothing masked, and returns the
// logarithm of the probability of that, d·log(1−S_N) for a sampler with a grid and 0 for
// others. It takes one uniform of u for each free position, as [Sampler.Plan]
// does. Of a sampler that leaves masks only such plans can give a text, and a bound on its
// likelihood wants no others.
func (s *Sampler) PlanRevealed(p *Plan, u draw.Uniforms, free []int) (logP float64, err error) {
	law := s.law
	if steps := law.declare().Steps; steps != nil {
		left := steps.Left()
		if left >= 1 && len(free) > 0 {
			return 0, fault.Errorf("samplers", "the grid reveals nothing")
		}
		law = revealed{law, left}
		logP = float64(len(free)) * math.Log1p(-left)
	}
	if err := p.draw(law, u, free); err != nil {
		return 0, fault.Errorf("samplers", "%w", err)
	}
	return logP, nil
}

// revealed is a law given that every U is at least S_N, which is to be revealed.
type revealed struct {
	planner
	left float64
}

func (r revealed) plan(p *Plan) error {
	for i := range p.reveals {
		u := &p.reveals[i].u
		*u = r.left + (1-r.left)**u // rises with u: the order stays
	}
	return r.planner.plan(p)
}
