package likelihood

import (
	"context"
	"math"
	"math/bits"

	"mdmgen/samplers/schedule"
)

// trapezoidalWeight is the weight of every second half of the trapezoidal plan, whose
// middle is that of the step.
const trapezoidalWeight = 1

// revealed is the log-probability that a call on a canvas with some masked positions reveals just
// n given ones of them.
type revealed func(masked, n int) float64

// halfStep reveals each with probability p.
func halfStep(p float64) revealed {
	return func(masked, n int) (log float64) {
		if n > 0 {
			log = float64(n) * math.Log(p)
		}
		if masked > n {
			log += float64(masked-n) * math.Log1p(-p)
		}
		return log
	}
}

// block reveals so many positions, uniformly chosen.
func block(size int) revealed {
	return func(masked, n int) float64 {
		if n != size {
			return math.Inf(-1)
		}
		return -logChoose(masked, n)
	}
}

// rest reveals all.
func rest(masked, n int) float64 {
	if n != masked {
		return math.Inf(-1)
	}
	return 0
}

// lookBack is a recursion over sets of visible positions. Calls come alone or in pairs, the second of
// which looks back at the first:
//
//	g'(B) = Σ_{A⊆B} g(A)·P(A→B)·Π_{l∈B∖A} μ^l(x_l|x_A),
//	g'(C) = Σ_{A⊆B⊆C} g(A)·P(A→B)·Π_{l∈B∖A} μ^l(x_l|x_A)·P(B→C)·Π_{l∈C∖B} m^l(x_l|x_A,x_B),
//
// P that of [revealed] and m the mixture: 3^d and 4^d products. Logarithms are summed, since
// texts may be of any probability.
type lookBack struct {
	d int
	// g holds log g.
	g []float64
	// first and second are what a call makes of one set.
	first, second branches
	values        []float64
	sums          []logAdder
}

// branches are sets and their log-probabilities.
type branches struct {
	sets []int
	logs []float64
}

func newLookBack(d int) *lookBack {
	n := 1 << d
	r := &lookBack{d: d, g: make([]float64, n), values: make([]float64, d), sums: make([]logAdder, n)}
	for _, b := range []*branches{&r.first, &r.second} {
		b.sets, b.logs = make([]int, n), make([]float64, n)
	}
	for a := 1; a < n; a++ {
		r.g[a] = math.Inf(-1)
	}
	return r
}

// whole is log g([d]).
func (r *lookBack) whole() float64 { return r.g[len(r.g)-1] }

// call applies one call.
func (r *lookBack) call(t *Table, how revealed) {
	r.step(t, how, func(_, b int, log float64) { r.sums[b].add(log) })
}

// pair applies two calls.
func (r *lookBack) pair(t *Table, mix *mixes, one, two revealed) {
	r.step(t, one, func(a, b int, log float64) {
		for i := range r.d {
			if b>>i&1 == 0 {
				r.values[i] = mix.at(a, b, i)
			}
		}
		n := r.second.of(b, log, r.values, two)
		for j, c := range r.second.sets[:n] {
			r.sums[c].add(r.second.logs[j])
		}
	})
}

// step calls leaf with each pair of a set and what a call makes of it, and then sets g to what was
// added.
func (r *lookBack) step(t *Table, how revealed, leaf func(a, b int, log float64)) {
	for i := range r.sums {
		r.sums[i] = logAdder{top: math.Inf(-1)}
	}
	for a, g := range r.g {
		if math.IsInf(g, -1) {
			continue
		}
		n := r.first.of(a, g, t.LogMu[a*r.d:(a+1)*r.d], how)
		for j, b := range r.first.sets[:n] {
			if log := r.first.logs[j]; !math.IsInf(log, -1) {
				leaf(a, b, log)
			}
		}
	}
	for b := range r.g {
		r.g[b] = r.sums[b].log()
	}
}

// of lists the sets that a call makes of a set of log-probability g, if the text's tokens have
// the log-probabilities in values, and returns their number.
func (r *branches) of(set int, g float64, values []float64, how revealed) (n int) {
	n = 1
	r.sets[0], r.logs[0] = set, g
	for i, x := range values {
		if set>>i&1 == 1 {
			continue
		}
		for j := range n {
			r.sets[n+j], r.logs[n+j] = r.sets[j]|1<<i, r.logs[j]+x
		}
		n *= 2
	}
	masked := bits.Len(uint(n)) - 1
	var chance [MaxFree + 1]float64
	for k := range masked + 1 {
		chance[k] = how(masked, k)
	}
	for j := range n {
		r.logs[j] += chance[bits.OnesCount(uint(j))]
	}
	return n
}

// logAdder is Σ e^x as sum·e^top.
type logAdder struct{ top, sum float64 }

func (s *logAdder) add(x float64) {
	switch {
	case x > s.top:
		s.top, s.sum = x, s.sum*math.Exp(s.top-x)+1
	case x > s.top-745: // Less is nothing beside a sum of at least 1, and −Inf nothing at all.
		s.sum += math.Exp(x - s.top)
	}
}

func (s *logAdder) log() float64 { return s.top + math.Log(s.sum) }

// trapezoidalLaw is that of the trapezoidal plan. s holds the law of its half steps, two a step; at
// gives the table and the mixtures of a step, and for step N the table of the call that fills what is
// left.
func trapezoidalLaw(d int, s schedule.Steps, at func(step int) (*Table, *mixes, error)) (GridLaw, error) {
	r := newLookBack(d)
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

// trapezoidal is the law on a network without time. Plans of several steps share their mixtures.
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

// timedTrapezoidal is the law on a time-conditioned network: whole rows at the start and in the
// middle of every step.
func (e *Evaluator) timedTrapezoidal(ctx context.Context, t Target, s schedule.Steps, floor float64) (GridLaw, error) {
	at := func(k int) func(int) float64 { return func(int) float64 { return s.Grid.Lambda[k] } }
	return trapezoidalLaw(len(t.Free), s, func(k int) (*Table, *mixes, error) {
		if k == len(s.Jump)/2 {
			left, err := e.tablesAt(ctx, []Target{t}, false, at(2*k))
			if err != nil {
				return nil, nil, err
			}
			return left[0], nil, nil
		}
		before, err := e.wholeRows(ctx, t, false, 0, at(2*k))
		if err != nil {
			return nil, nil, err
		}
		now, err := e.wholeRows(ctx, t, false, 1, at(2*k+1))
		if err != nil {
			return nil, nil, err
		}
		return before.Table, newMixes(before, now, trapezoidalWeight, floor, func(n, _ int) bool { return k > 0 || n == 0 }), nil
	})
}

// paired is −log P of paired FHS.
func (t *rowTable) paired(s shape) float64 {
	r := newLookBack(t.D)
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
