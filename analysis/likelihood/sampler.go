package likelihood

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mdmgen/samplers"
)

// Exact is −log P of a sampler on a window, in nats.
type Exact struct {
	// NegLog is that of the sampler as it is set; +Inf where it cannot give the text.
	NegLog float64
	// Grid has both endings of a grid sampler, nil for others.
	Grid *GridLaw
	// QuadratureError is 0 but for FHS on a time-conditioned network; see
	// [TimedTable.FHS].
	QuadratureError float64
}

// Sampler returns −log P of a sampler, exactly.
func (t *Table) Sampler(s *samplers.Sampler) (Exact, error) {
	switch name := s.Settings().Sampler; name {
	case "fhs":
		return Exact{NegLog: t.FHS()}, nil
	case "parallel-fhs":
		sizes, err := blockSizes(s, t.D)
		if err != nil {
			return Exact{}, err
		}
		return Exact{NegLog: t.Groups(sizes)}, nil
	case "ordered":
		if s.Settings().Order == string(samplers.RandomOrder) {
			return Exact{NegLog: t.FHS()}, nil
		}
		return Exact{}, fmt.Errorf("likelihood: an order needs the positions of the window")
	default:
		if steps, ok := s.Steps(); ok {
			return gridExact(t.Grid(steps), s), nil
		}
		return Exact{}, fmt.Errorf("likelihood: no exact law of %s is known", name)
	}
}

func gridExact(law GridLaw, s *samplers.Sampler) Exact {
	out := Exact{NegLog: law.Leave, Grid: &law}
	if s.Denoises() {
		out.NegLog = law.Denoise
	}
	return out
}

// blockSizes returns the sizes of the blocks of a sampler whose sizes are not random.
func blockSizes(s *samplers.Sampler, d int) ([]int, error) {
	free := make([]int, d)
	for i := range free {
		free[i] = i
	}
	var p samplers.Plan
	if err := s.Plan(&p, samplers.NewStream(0, 0), free); err != nil {
		return nil, err
	}
	var sizes []int
	for _, b := range p.Blocks {
		sizes = append(sizes, len(b.Positions))
	}
	return sizes, nil
}

// Exact returns −log P of a sampler on a window, by whatever takes the fewest rows:
// a chain for an order, 2^d rows for a network without time, 2^d a step for a
// time-conditioned one on a grid, and 2^d a node of a quadrature for its FHS.
// A [TooLargeError] says what a refused one would have cost.
func (e *Evaluator) Exact(ctx context.Context, t Target, s *samplers.Sampler) (Exact, error) {
	if err := e.Check(t); err != nil {
		return Exact{}, err
	}
	set := s.Settings()
	timed := e.facts.TimeConditioned
	random := set.Order == string(samplers.RandomOrder)
	if set.Sampler == "ordered" && !random {
		cost, err := e.chain(ctx, t, s)
		return Exact{NegLog: cost}, err
	}
	if !timed {
		table, err := e.Table(ctx, t, false)
		if err != nil {
			return Exact{}, err
		}
		return table.Sampler(s)
	}
	d := len(t.Free)
	switch {
	case set.Sampler == "ordered":
		// A random order is asked at fixed times, and so FHS's recursion holds.
		tables, err := e.tablesAt(ctx, []Target{t}, false, func(m int) float64 { return float64(m) / float64(d+1) })
		if err != nil {
			return Exact{}, err
		}
		return Exact{NegLog: tables[0].FHS()}, nil
	case set.Sampler == "fhs":
		table, err := e.TimedTableWithin(ctx, t, 0, false)
		if err != nil {
			return Exact{}, err
		}
		p := table.FHS()
		return Exact{NegLog: p.Value, QuadratureError: p.Error}, nil
	case set.Sampler == "parallel-fhs":
		return Exact{}, fmt.Errorf("likelihood: parallel-fhs asks a time-conditioned network at random times of groups: no exact law of it is worked out; use a K-plan bound")
	}
	return e.timedGrid(ctx, t, s)
}

// timedGrid is the law of a grid sampler on a time-conditioned network: a table for
// each step and one for the finishing call.
func (e *Evaluator) timedGrid(ctx context.Context, t Target, s *samplers.Sampler) (Exact, error) {
	steps, ok := s.Steps()
	if !ok {
		return Exact{}, fmt.Errorf("likelihood: no exact law of %s is known", s.Settings().Sampler)
	}
	d, n := len(t.Free), steps.Grid.Steps()
	if rows := float64(n+1) * math.Ldexp(1, d); rows > MaxRows || d > MaxFree {
		return Exact{}, &TooLargeError{Free: d, Rows: rows, Most: min(MaxFree, int(math.Log2(MaxRows/float64(n+1))))}
	}
	var last *Table
	at := -1
	law, err := gridLaw(d, steps, func(k int) (*Table, error) {
		if k == at {
			return last, nil
		}
		lambda := steps.Grid.Lambda[k]
		tables, err := e.tablesAt(ctx, []Target{t}, false, func(int) float64 { return lambda })
		if err != nil {
			return nil, err
		}
		last, at = tables[0], k
		return last, nil
	})
	if err != nil {
		return Exact{}, err
	}
	return gridExact(law, s), nil
}

// chain is −log P of an order that is not random: one row a position, asked at the
// times at which the sampler asks.
func (e *Evaluator) chain(ctx context.Context, t Target, s *samplers.Sampler) (float64, error) {
	var p samplers.Plan
	if err := s.Plan(&p, samplers.NewStream(0, 0), t.Free); err != nil {
		return 0, err
	}
	asks := planAsks(nil, &t, &p, false)
	if err := e.Eval(ctx, asks); err != nil {
		return 0, err
	}
	return asksCost(asks), nil
}

// Order returns −log P of revealing the free positions one by one in a given order,
// for any number of them: a row each. A time-conditioned network is asked at
// λ = m/(d+1) with m of d masked, as the ordered sampler asks.
func (e *Evaluator) Order(ctx context.Context, t Target, order []int) (float64, error) {
	var list []string
	for _, l := range order {
		list = append(list, strconv.Itoa(l))
	}
	s, err := samplers.New(samplers.Options{Sampler: "ordered", Order: strings.Join(list, ",")}, samplers.Conditions{})
	if err != nil {
		return 0, err
	}
	if err := e.Check(t); err != nil {
		return 0, err
	}
	return e.chain(ctx, t, s)
}
