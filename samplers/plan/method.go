package plan

import (
	"math"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Method fills canvases by plans, with one network call for each block and an independent draw at
// each of its positions. It may be shared by goroutines, and must not be changed after its first
// use.
type Method struct {
	Planner Planner
	// Denoise fills with one more call what the plan leaves masked.
	Denoise bool
	// Lookahead is the greatest number of canvases of a sequence in one call, for planners that
	// reveal one position per call; 0 is 1.
	Lookahead int
}

var (
	_ samplers.Method = (*Method)(nil)
	_ samplers.Kernel = (*Method)(nil)
)

// Start begins a sequence.
func (m *Method) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return samplers.Start(m, c, d)
}

// Fill draws the plan of the masked positions free.
func (m *Method) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	p := &planned{method: m, draws: d}
	if err := p.plan.draw(m.Planner, d, free); err != nil {
		return nil, err
	}
	if m.Lookahead > 1 {
		return &lookahead{planned: p, canvas: c, most: m.Lookahead}, nil
	}
	return p, nil
}

// Law returns the planner's law with its ending.
func (m *Method) Law() samplers.Law {
	if law, ok := m.Planner.Law().(samplers.ByGrid); ok {
		law.Denoise = m.Denoise
		return law
	}
	return m.Planner.Law()
}

// Head returns HeadBest.
func (m *Method) Head(draw.Settings) samplers.Head { return samplers.HeadBest }

// MostCalls returns d.
func (m *Method) MostCalls(_ samplers.Spec, d, _ int) int { return d }

// Canvases returns the greatest number of canvases of a sequence in one call.
func (m *Method) Canvases() int { return max(m.Lookahead, 1) }

// Plan draws a plan into p for the free positions, which must be ascending, using one uniform of u
// for each. It returns an error if a list of sizes or positions does not fit them.
func (m *Method) Plan(p *Plan, u draw.Uniforms, free []int) error {
	return fault.Join("samplers", p.draw(m.Planner, u, free))
}

// PlanRevealed draws a plan into p given that it leaves nothing masked, and returns the logarithm
// of the probability of that condition: d·log(1−S_N) for a planner with a grid and 0 for others. It
// uses one uniform of u for each free position, like Plan. Only such plans can produce a text, so a
// bound on its likelihood needs no others.
func (m *Method) PlanRevealed(p *Plan, u draw.Uniforms, free []int) (logP float64, err error) {
	planner := m.Planner
	if grid, ok := planner.Law().(samplers.ByGrid); ok {
		left := grid.Left()
		if left >= 1 && len(free) > 0 {
			return 0, fault.Errorf("samplers", "the grid reveals nothing")
		}
		planner = given{planner, left}
		logP = float64(len(free)) * math.Log1p(-left)
	}
	return logP, fault.Join("samplers", p.draw(planner, u, free))
}

// ExpectedCalls returns the exact expected number of network calls of a sequence with d free
// positions, or NaN with look-ahead, which makes it depend on the network's rows. It also returns
// the expected number of finishing calls, which is a probability. It returns an error if explicit
// sizes do not sum to d.
func (m *Method) ExpectedCalls(d int) (calls, finish float64, err error) {
	calls, finish, err = m.Planner.Calls(d)
	switch {
	case err != nil:
		return 0, 0, fault.Join("samplers", err)
	case !m.Denoise:
		finish = 0
	}
	if m.Lookahead > 1 {
		calls = math.NaN()
	}
	return calls, finish, nil
}
