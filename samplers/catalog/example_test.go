package catalog_test

import (
	"fmt"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// A sampler is made from options; its cost is known before the network is opened.
func ExampleSampler_ExpectedCalls() {
	s, err := catalog.New(catalog.Options{Sampler: "tweedie", Steps: 10000, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, samplers.Spec{})
	if err != nil {
		fmt.Println(err)
		return
	}
	calls, finish, _ := s.ExpectedCalls(128)
	fmt.Printf("%v: %.1f calls for 128 tokens, %.0f to finish\n", s, calls, finish)
	// Output:
	// tweedie lambda 10000 steps: 127.2 calls for 128 tokens, 0 to finish
}

// A plan needs no network: it lists the steps in which 8 positions are revealed.
func ExampleSampler_Plan() {
	s, err := catalog.New(catalog.Options{Sampler: "parallel-fhs", Steps: 4, PlanOptions: catalog.PlanOptions{Sizes: "cos2"}}, samplers.Spec{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := s.Plan()
	var p plan.Plan
	if err := m.Plan(&p, draw.NewStream(1, 0), []int{0, 1, 2, 3, 4, 5, 6, 7}); err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range p.Blocks {
		fmt.Printf("%.3f %v\n", b.Lambda, b.Positions)
	}
	// Output:
	// 0.996 [0]
	// 0.848 [5 6 4]
	// 0.297 [3 1 2]
	// 0.021 [7]
}
