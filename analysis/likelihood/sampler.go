package likelihood

import (
	"context"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// Exact is −log P of a sampler on a window, in nats.
type Exact struct {
	// NegLog is −log P of the sampler with its own ending; +Inf if it cannot produce the text.
	NegLog float64
	// Grid holds both endings of a grid sampler, nil for others.
	Grid *GridLaw
	// QuadratureError is 0 except on a time-conditioned network for samplers that call it at random
	// times; see [TimedTable.FHS].
	QuadratureError float64
}

// Sampler returns −log P of a sampler, exactly. It returns an error if [TableHasLaw] is false: use
// [Evaluator.Laws] then.
func (t *Table) Sampler(s *catalog.Sampler) (Exact, error) {
	if !TableHasLaw(s) {
		return Exact{}, noLaw(s)
	}
	a := lawAsker{ctx: context.Background(), target: Target{Free: make([]int, t.D)}, shared: &rowTable{Table: t}}
	return a.law(s)
}

// lawOf returns the law that a sampler declares.
func lawOf(s *catalog.Sampler) samplers.Law {
	law, _ := s.Law()
	return law
}

// looksBack reports whether a sampler draws tokens from the rows of two calls.
func looksBack(s *catalog.Sampler) bool { return lawOf(s).LookBack }

// noLaw returns the error for a sampler that has no exact law from the available rows.
func noLaw(s *catalog.Sampler) error {
	set := s.Settings()
	switch {
	case set.Scores == plan.ScoresRaw:
		return fault.Errorf("likelihood", "%s with raw scores needs the masses of rows at every step", set.Sampler)
	case !s.Planned():
		return fault.Errorf("likelihood", "cannot compute a likelihood of %s: %s", s, lawOf(s).Why)
	case looksBack(s):
		return fault.Errorf("likelihood", "%s mixes the rows of two calls: its law needs whole rows", set.Sampler)
	}
	return fault.Errorf("likelihood", "no exact law of %s is known", set.Sampler)
}

func gridExact(law GridLaw, s *catalog.Sampler) Exact {
	out := Exact{NegLog: law.Leave, Grid: &law}
	if s.Denoises() {
		out.NegLog = law.Denoise
	}
	return out
}

// shape is the plan of a sampler with fixed block sizes: positions in uniform order, cut into
// blocks.
type shape struct {
	// sizes are the block sizes, which sum to d; weights the weight with which each block looks
	// back, lambda the masked fraction of its call.
	sizes           []int
	weights, lambda []float64
	floor           float64
}

// shapeOf returns the blocks of a sampler with fixed sizes.
func shapeOf(s *catalog.Sampler, d int) (shape, error) {
	var p plan.Plan
	if err := s.Plan(&p, draw.NewStream(0, 0), InOrder(d)); err != nil {
		return shape{}, err
	}
	var out shape
	for _, b := range p.Blocks {
		out.sizes = append(out.sizes, len(b.Positions))
		out.weights = append(out.weights, b.Weight)
		out.floor = max(out.floor, b.Floor)
		out.lambda = append(out.lambda, b.Lambda)
	}
	return out, nil
}

// isListed reports whether the likelihood of a sampler is a sum over its plans.
func isListed(s *catalog.Sampler) bool { return lawOf(s).Fixed }
