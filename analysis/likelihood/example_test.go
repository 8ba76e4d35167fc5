package likelihood_test

import (
	"context"
	"fmt"

	"mdmgen/analysis/likelihood"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// The exact likelihoods of a text of three tokens, in nats. With four steps, positions that are
// revealed together do not depend on each other, and the text is less likely.
func Example() {
	w, err := world.Open("testdata/dirichlet3-noisy.json")
	if err != nil {
		panic(err)
	}
	e, err := likelihood.New(w, likelihood.Options{})
	if err != nil {
		panic(err)
	}
	t, err := e.Table(context.Background(), likelihood.Whole([]int{1, 1, 1}), false)
	if err != nil {
		panic(err)
	}
	s, err := catalog.New(catalog.Options{Sampler: "tweedie", Steps: 4, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, samplers.Spec{})
	if err != nil {
		panic(err)
	}
	tweedie, err := e.Exact(context.Background(), likelihood.Whole([]int{1, 1, 1}), s)
	if err != nil {
		panic(err)
	}
	fmt.Printf("NELBO %.4f, first-hitting %.4f, Tweedie %.4f\n", t.NELBO(), t.FHS(), tweedie.NegLog)
	// Output: NELBO 2.1195, first-hitting 1.9693, Tweedie 2.2436
}
