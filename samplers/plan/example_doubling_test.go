package plan_test

import (
	"context"
	"fmt"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/likelihood"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// doubling is a planner: its first call reveals one position, the second two, then four and so
// on, in the order of first-hitting.
type doubling struct{}

// sizes returns the numbers of positions of the calls for d positions.
func (doubling) sizes(d int) (out []int, err error) {
	for n := 1; d > 0; n *= 2 {
		n = min(n, d)
		out, d = append(out, n), d-n
	}
	return out, nil
}

// Plan makes a block of each group, queried at the time at which its first position is revealed.
func (s doubling) Plan(p *plan.Plan) error {
	sizes, _ := s.sizes(len(p.Reveals))
	left := p.Reveals
	for i, n := range sizes {
		p.Begin(left[0].U, schedule.ThetaOf(left[0].U), i)
		for _, r := range left[:n] {
			p.Add(r.Position, r.U)
		}
		left = left[n:]
	}
	return nil
}

// Calls returns the number of groups; nothing is left.
func (s doubling) Calls(d int) (blocks, left float64, err error) {
	sizes, _ := s.sizes(d)
	return float64(len(sizes)), 0, nil
}

// Law declares groups of these sizes in uniform order.
func (s doubling) Law() samplers.Planned { return samplers.BySizes{Of: s.sizes, AtHit: true} }

// A planner has samples, exact likelihoods, expected calls and certificates like all samplers.
func ExamplePlanner() {
	ctx := context.Background()
	m, err := world.Open("../../analysis/likelihood/testdata/dirichlet3-noisy.json")
	check(err)
	s := catalog.Of("doubling", doubling{})
	mask := m.Spec().Mask
	ids, err := samplers.Fill(ctx, m, []int{mask, mask, mask}, s, 1)
	check(err)
	calls, _, err := s.ExpectedCalls(3)
	check(err)
	e, err := likelihood.New(m, likelihood.Options{})
	check(err)
	exact, err := e.Exact(ctx, likelihood.Whole(ids), s)
	check(err)
	study, err := certificate.Measure(ctx, m, []int{mask, mask, mask}, []*catalog.Sampler{s}, certificate.Config{Runs: 1000, Seed: 1})
	check(err)
	fmt.Printf("%v in %v calls: −log P = %.4f nats; TV to first-hitting at most %.3f\n", ids, calls, exact.NegLog, study.Bound(0).TV.Mean)
	// Output:
	// [3 1 1] in 2 calls: −log P = 4.1485 nats; TV to first-hitting at most 0.403
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
