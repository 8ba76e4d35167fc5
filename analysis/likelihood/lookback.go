package likelihood

import (
	"context"

	"mdmgen/samplers/schedule"
)

// trapezoidalWeight is the weight of every second half step of the trapezoidal plan, whose steps
// are cut in the middle.
const trapezoidalWeight = 1

// trapezoidalLaw computes the law of the trapezoidal plan. s has two half steps per step. at
// returns the table and the mixtures of a step, and for step N the table of the call that fills the
// rest.
func trapezoidalLaw(d int, s schedule.Steps, at func(step int) (*Table, *mixes, error)) (GridLaw, error) {
	r := newRecursion(d)
	n := len(s.Jump) / 2
	for k := range n {
		t, mix, err := at(k)
		if err != nil {
			return GridLaw{}, err
		}
		r.pair(t, mix, halfStep(s.Jump[2*k]), halfStep(s.Jump[2*k+1]))
	}
	leave := -r.whole()
	if s.Left() == 0 {
		return GridLaw{leave, leave}, nil
	}
	t, _, err := at(n)
	if err != nil {
		return GridLaw{}, err
	}
	r.call(t, rest)
	return GridLaw{leave, -r.whole()}, nil
}

// trapezoidal computes the law on a network without time. Plans of more than one step share their
// mixtures.
func (t *rowTable) trapezoidal(s schedule.Steps, floor float64) GridLaw {
	var mix *mixes
	if len(s.Jump) <= 2 {
		mix = newMixes(t, t, trapezoidalWeight, floor, func(before, _ int) bool { return before == 0 })
	} else if mix = t.mixed[[2]float64{trapezoidalWeight, floor}]; mix == nil {
		mix = newMixes(t, t, trapezoidalWeight, floor, func(int, int) bool { return true })
		if t.mixed == nil {
			t.mixed = make(map[[2]float64]*mixes)
		}
		t.mixed[[2]float64{trapezoidalWeight, floor}] = mix
	}
	law, _ := trapezoidalLaw(t.D, s, func(int) (*Table, *mixes, error) { return t.Table, mix, nil })
	return law
}

// timedTrapezoidal computes the law on a time-conditioned network, from whole rows at the start and
// in the middle of every step.
func (e *Evaluator) timedTrapezoidal(ctx context.Context, t Target, s schedule.Steps, floor float64) (GridLaw, error) {
	lambda := s.Grid.Lambda
	return trapezoidalLaw(len(t.Free), s, func(k int) (*Table, *mixes, error) {
		if k == len(s.Jump)/2 {
			left, err := e.tableAt(ctx, t, false, lambda[2*k])
			return left, nil, err
		}
		before, err := e.wholeRows(ctx, t, false, 0, constant(lambda[2*k]))
		if err != nil {
			return nil, nil, err
		}
		now, err := e.wholeRows(ctx, t, false, 1, constant(lambda[2*k+1]))
		if err != nil {
			return nil, nil, err
		}
		return before.Table, newMixes(before, now, trapezoidalWeight, floor, func(n, _ int) bool { return k > 0 || n == 0 }), nil
	})
}

// blocks returns −log P of blocks of fixed sizes in uniform order: of parallel FHS, and of paired
// FHS, whose second blocks look back.
func (t *rowTable) blocks(s shape) float64 {
	r := newRecursion(t.D)
	visible := 0
	for n := 0; n < len(s.sizes); n++ {
		size := s.sizes[n]
		if n+1 == len(s.sizes) || s.weights[n+1] == 0 {
			r.call(t.Table, block(size))
			visible += size
			continue
		}
		from, to := visible, visible+size
		mix := newMixes(t, t, s.weights[n+1], s.floor, func(before, now int) bool { return before == from && now == to })
		n++
		r.pair(t.Table, mix, block(size), block(s.sizes[n]))
		visible += size + s.sizes[n]
	}
	return -r.whole()
}
