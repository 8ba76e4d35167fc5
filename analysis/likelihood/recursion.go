package likelihood

import (
	"math"
	"math/bits"

	"mdmgen/internal/fault"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// recursion holds, for each set of visible positions, the log-probability that exactly these are
// revealed so far, with the text's tokens. Calls are single or in pairs, in which the second looks
// back at the first:
//
//	g'(B) = Σ_{A⊆B} g(A)·P(A→B)·Π_{l∈B∖A} μ^l(x_l|x_A),
//	g'(C) = Σ_{A⊆B⊆C} g(A)·P(A→B)·Π_{l∈B∖A} μ^l(x_l|x_A)·P(B→C)·Π_{l∈C∖B} m^l(x_l|x_A,x_B),
//
// where P(A→B) is the probability given by [revealed] and m the mixture: 3^d and 4^d products. Sums
// are computed from logarithms, since probabilities of texts may be of any magnitude.
type recursion struct {
	d int
	// g holds log g.
	g []float64
	// first and second hold the results of a call on one set.
	first, second branches
	jump, stay    []float64
	sums          []logAdder
}

func newRecursion(d int) *recursion {
	n := 1 << d
	r := &recursion{d: d, g: make([]float64, n), jump: make([]float64, d), stay: make([]float64, d), sums: make([]logAdder, n)}
	for _, b := range []*branches{&r.first, &r.second} {
		b.sets, b.logs = make([]int, n), make([]float64, n)
	}
	for a := 1; a < n; a++ {
		r.g[a] = math.Inf(-1)
	}
	return r
}

// whole returns log g([d]).
func (r *recursion) whole() float64 { return r.g[len(r.g)-1] }

// GridLaw holds −log P of a grid sampler: Leave with masks left, so only paths that reveal
// everything count, and Denoise with one more call that fills the rest.
type GridLaw struct{ Leave, Denoise float64 }

// law applies the steps of a grid whose jump is above 0, then the call that fills the rest. at
// returns the table of a step; step N is that last call.
func (r *recursion) law(s schedule.Steps, at func(step int) (*Table, error), step func(k int, t *Table) error) (GridLaw, error) {
	for k, p := range s.Jump {
		if p == 0 {
			continue
		}
		t, err := at(k)
		if err == nil {
			err = step(k, t)
		}
		if err != nil {
			return GridLaw{}, err
		}
	}
	leave := -r.whole()
	t, err := at(len(s.Jump))
	if err != nil {
		return GridLaw{}, err
	}
	r.call(t, rest)
	return GridLaw{leave, -r.whole()}, nil
}

// gridLaw computes the law of Euler, Tweedie or τ-leaping.
func gridLaw(d int, s schedule.Steps, at func(step int) (*Table, error)) (GridLaw, error) {
	r := newRecursion(d)
	return r.law(s, at, func(k int, t *Table) error { r.call(t, halfStep(s.Jump[k])); return nil })
}

// sequenceLaw computes the law of DMPM and, in one step without time, of uniformization and MATU.
func sequenceLaw(d int, s schedule.Steps, at func(step int) (*Table, error)) (GridLaw, error) {
	r := newRecursion(d)
	return r.law(s, at, func(k int, t *Table) error { r.sequence(t, s.Jump[k]); return nil })
}

// rawLaw computes the law of a sampler with unnormalised scores; the tables must have masses.
func rawLaw(d int, law plan.RawLaw, at func(step int) (*Table, error)) (GridLaw, error) {
	r := newRecursion(d)
	return r.law(law.Steps, at, func(k int, t *Table) error {
		return r.raw(t, func(mass float64) (float64, error) { return law.Stays(k, mass) })
	})
}

// revealed returns the log-probability that a call on a canvas with some masked positions reveals
// exactly n given ones.
type revealed func(masked, n int) float64

// halfStep reveals each position with probability p.
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

// block reveals size positions, uniformly chosen.
func block(size int) revealed {
	return func(masked, n int) (log float64) {
		if n != size {
			return math.Inf(-1)
		}
		for i := range n {
			log -= math.Log(float64(masked-i)) - math.Log(float64(i+1))
		}
		return log
	}
}

// rest reveals all positions.
func rest(masked, n int) float64 {
	if n != masked {
		return math.Inf(-1)
	}
	return 0
}

// call applies a single call.
func (r *recursion) call(t *Table, how revealed) {
	r.step(func(a int, g float64) (int, error) { return r.first.of(a, g, t.logRow(a), nil, how), nil }, r.add)
}

// pair applies a pair of calls.
func (r *recursion) pair(t *Table, mix *mixes, one, two revealed) {
	r.step(func(a int, g float64) (int, error) { return r.first.of(a, g, t.logRow(a), nil, one), nil }, func(a, b int, log float64) {
		for i := range r.d {
			if b>>i&1 == 0 {
				r.jump[i] = mix.at(a, b, i)
			}
		}
		n := r.second.of(b, log, r.jump, nil, two)
		for j, c := range r.second.sets[:n] {
			r.sums[c].add(r.second.logs[j])
		}
	})
}

// raw applies a call in which a position whose row has a given mass stays masked with probability
// stays(mass).
func (r *recursion) raw(t *Table, stays func(mass float64) (float64, error)) error {
	return r.step(func(a int, g float64) (int, error) {
		for _, i := range t.outside(a) {
			p, err := stays(math.Exp(t.LogMass[a*r.d+i]))
			if err != nil {
				return 0, fault.Errorf("likelihood", "position %d of the free ones: %w", i, err)
			}
			r.jump[i], r.stay[i] = math.Log1p(-p)+t.LogMu[a*r.d+i], math.Log(p)
		}
		return r.first.of(a, g, r.jump, r.stay, nil), nil
	}, r.add)
}

// sequence applies a step that reveals each masked position with probability p, one after another
// in uniform order:
//
//	v_0 = g,  v_n(B) = (p/n)·Σ_{i∈B} v_{n−1}(B∖i)·μ^i(x_i | x_{B∖i}),  g'(B) = (1−p)^(d−|B|)·Σ_n v_n(B).
func (r *recursion) sequence(t *Table, p float64) {
	v := r.g
	for b, x := range v {
		r.sums[b] = logAdder{x, 1}
	}
	for n := 1; n <= r.d; n++ {
		next := make([]float64, len(v))
		for b := range next {
			sum := logAdder{top: math.Inf(-1)}
			for rest := b; rest != 0; rest &= rest - 1 {
				i := bits.TrailingZeros(uint(rest))
				from := b &^ (1 << i)
				sum.add(v[from] + t.LogMu[from*r.d+i])
			}
			next[b] = sum.log() + math.Log(p/float64(n))
			r.sums[b].add(next[b])
		}
		v = next
	}
	for b := range r.g {
		r.g[b] = r.sums[b].log()
		if masked := r.d - bits.OnesCount(uint(b)); masked > 0 {
			r.g[b] += float64(masked) * math.Log1p(-p)
		}
	}
}

// step calls branch for each set to list the results of a call on it, calls leaf for each result,
// and sets g to the sums.
func (r *recursion) step(branch func(a int, g float64) (int, error), leaf func(a, b int, log float64)) error {
	for i := range r.sums {
		r.sums[i] = logAdder{top: math.Inf(-1)}
	}
	for a, g := range r.g {
		if math.IsInf(g, -1) {
			continue
		}
		n, err := branch(a, g)
		if err != nil {
			return err
		}
		for j, b := range r.first.sets[:n] {
			if log := r.first.logs[j]; !math.IsInf(log, -1) {
				leaf(a, b, log)
			}
		}
	}
	for b := range r.g {
		r.g[b] = r.sums[b].log()
	}
	return nil
}

// add is the leaf of a single call.
func (r *recursion) add(_, b int, log float64) { r.sums[b].add(log) }

// branches lists sets and their log-probabilities.
type branches struct {
	sets []int
	logs []float64
}

// of lists the results of a call on a set of log-probability g and returns their number. jump holds
// the log-probabilities that a position is revealed with the text's token, stay that it is not
// revealed. If how is not nil, it gives the probabilities of revealing and staying, and stay is
// nil.
func (r *branches) of(set int, g float64, jump, stay []float64, how revealed) (n int) {
	n = 1
	r.sets[0], r.logs[0] = set, g
	for i, x := range jump {
		if set>>i&1 == 1 {
			continue
		}
		for j := range n {
			r.sets[n+j], r.logs[n+j] = r.sets[j]|1<<i, r.logs[j]+x
			if stay != nil {
				r.logs[j] += stay[i]
			}
		}
		n *= 2
	}
	if how == nil {
		return n
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

// logAdder represents Σ e^x as sum·e^top.
type logAdder struct{ top, sum float64 }

func (s *logAdder) add(x float64) {
	switch {
	case x > s.top:
		s.top, s.sum = x, s.sum*math.Exp(s.top-x)+1
	case x > s.top-745: // Smaller terms, −Inf included, do not change a sum of at least 1.
		s.sum += math.Exp(x - s.top)
	}
}

func (s *logAdder) log() float64 { return s.top + math.Log(s.sum) }
