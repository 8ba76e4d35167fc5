package theory_test

import (
	"fmt"

	"mdmgen/analysis/theory"
	"mdmgen/samplers/schedule"
)

// How far Euler's law can be from the first-hitting sampler's on 64 positions and 20,000
// steps, whatever the network.
func ExampleCollisionBound() {
	grid, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridUniform, T: 8, Delta: 1e-3, Steps: 20000})
	if err != nil {
		fmt.Println(err)
		return
	}
	steps, err := schedule.NewSteps(schedule.RuleEuler, schedule.Exp, grid)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := theory.CollisionBound(64, steps.Reveal, steps.Left(), true)
	fmt.Printf("TV at most %.3f\n", 1-p)
	// Output: TV at most 0.333
}

// The construction in the paper's Theorem 3 needs far fewer steps than the theorem
// claims; pairs of equal tokens need as many.
func ExampleDistance_Steps() {
	const d, eps = 1000, 1e-4
	t := theory.Horizon3(d, eps)
	fmt.Println(theory.PointDistance(d, eps, t).Steps().N, theory.PairsDistance(d, 2, eps, t).Steps().N)
	// Output: 2615 143173
}
