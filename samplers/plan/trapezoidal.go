package plan

import (
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Trapezoidal describes the sampler.
var Trapezoidal = samplers.Descriptor{
	Name:    "trapezoidal",
	Summary: "tweedie on half steps; the second extrapolates from the first",
	Law: "Each step is halved at the middle of its masked fractions, and positions are revealed as by tweedie on the halves. The first half is drawn from its rows p, queried at the start of the step. " +
		"The second half is drawn from max(2q−p, κq), normalised, where p and q are its rows before and after the first half; q is queried in the middle of the step. κ is floor; with floor 0, a possible text may have probability 0. " +
		"Where dependence is smooth and nothing is clipped, the error of a step is of third order; tweedie's is of second. With a time-free network, the second half is plain if the first is empty. A time-conditioned network has other rows in the middle even then, and the second half extrapolates from them.",
	Calls: "non-empty half steps",
	Cost: "One call per non-empty half step, of 2N. A time-conditioned network is queried at the start of every non-empty step, and in its middle if the second half is not empty: Σ_k 1−(1−w_k)^d + 1−(1−w_k/2)^d calls in expectation, where w_k is the probability that a position is revealed in step k. " +
		"The call at the start of a step returns rows for both halves.",
	Source: "The intensities of the θ-trapezoidal method of Ren et al., arXiv 2502.00234, θ = 1/2, in the form of a plan.",
	Flags:  slices.Concat(gridFlags, []string{"floor"}),
}

// DefaultFloor is κ of the samplers that extrapolate from two rows. With 0 a possible string may
// have probability 0.
const DefaultFloor = 0.1

// trapezoidal is Tweedie on the half steps of a grid, with a fill of second order. The middle of a
// step is λ_k − (λ_k−λ_{k+1})/2. The first half is filled plainly from p = μ(·|x, λ_k). The second
// half, with p* = μ(·|x*, λ_mid) on the canvas x* after the first, is filled from max(2p* − p,
// κp*), normalised. Half of the pairs of positions that a step reveals are split between its
// halves; counting twice the dependence of the second on the first corrects the mean. Without
// clipping the error of a step is of third order.
//
// It has the intensities of the θ-trapezoidal method of Ren et al., arXiv 2502.00234, with θ = ½,
// in the form of a plan, whose reveals do not depend on the network.
type trapezoidal struct {
	// steps are Tweedie's on the refined grid of 2N half steps.
	steps schedule.Steps
	floor float64
	// timed reports whether the network is time-conditioned, so that p and p* differ even if the
	// first half reveals nothing.
	timed bool
}

func (s trapezoidal) Plan(p *Plan) error {
	gridPlan{s.steps}.add(p, s.timed)
	for i := range p.Blocks {
		if step := p.Blocks[i].Step; step%2 == 1 && i > 0 && p.Blocks[i-1].Step == step-1 {
			p.lookBack(i, 1, s.floor)
		}
	}
	return nil
}

// Calls counts the non-empty half steps. A time-conditioned network is queried at the start of
// every non-empty step, and in its middle if the second half is not empty.
func (s trapezoidal) Calls(d int) (blocks, left float64, err error) {
	blocks, left = s.steps.ExpectedCalls(d)
	if s.timed {
		blocks = 0
		for k := 0; k < len(s.steps.Reveal); k += 2 {
			first, second := s.steps.Reveal[k], s.steps.Reveal[k+1]
			blocks += schedule.AtLeastOne(first+second, d) + schedule.AtLeastOne(second, d)
		}
	}
	return blocks, left, nil
}

func (s trapezoidal) Law() samplers.Law {
	return samplers.Law{Steps: &s.steps, LookBack: true, Floor: s.floor, Clock: samplers.AtStep}
}
