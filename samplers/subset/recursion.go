package subset

import (
	"math"
	"math/bits"
)

// recursion holds, for each set of visible positions, the log-probability that exactly these are
// revealed so far, with the text's tokens. A call takes it from g to
//
//	g'(B) = Σ_{A⊆B} g(A)·P(A→B)·Π_{l∈B∖A} μ^l(x_l|x_A),
//
// where P(A→B) is the probability given by [revealed]: 3^d products.
type recursion struct {
	d int
	// g holds log g.
	g []float64
	// sets and logs list the results of a call on one set.
	sets []int
	logs []float64
	sums []logAdder
}

func newRecursion(d int) *recursion {
	n := 1 << d
	r := &recursion{d: d, g: make([]float64, n), sets: make([]int, n), logs: make([]float64, n), sums: make([]logAdder, n)}
	for a := 1; a < n; a++ {
		r.g[a] = math.Inf(-1)
	}
	return r
}

// whole returns log g([d]).
func (r *recursion) whole() float64 { return r.g[len(r.g)-1] }

// Endings holds −log P of a grid sampler: Leave with masks left, so that only paths that reveal
// everything count, and Denoise with one more call that fills the rest.
type Endings struct{ Leave, Denoise float64 }

// Grid returns −log P of a sampler on a grid whose step k reveals each masked position with
// probability jump[k]. at returns the table of a step, step N that of the call that fills the rest.
// Positions of a step are drawn from its rows independently or, with oneByOne, one after another in
// uniform order, each given those before it.
func Grid(d int, jump []float64, oneByOne bool, at func(step int) (*Table, error)) (Endings, error) {
	r := newRecursion(d)
	for k, p := range jump {
		if p == 0 {
			continue
		}
		t, err := at(k)
		if err != nil {
			return Endings{}, err
		}
		if oneByOne {
			r.sequence(t, p)
		} else {
			r.call(t, independently(p))
		}
	}
	leave := -r.whole()
	t, err := at(len(jump))
	if err != nil {
		return Endings{}, err
	}
	r.call(t, rest)
	return Endings{leave, -r.whole()}, nil
}

// revealed returns the log-probability that a call on a canvas with some masked positions reveals
// exactly n given ones.
type revealed func(masked, n int) float64

// independently reveals each position with probability p.
func independently(p float64) revealed {
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

// uniform reveals size positions, uniformly chosen.
func uniform(size int) revealed {
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

// call applies a call.
func (r *recursion) call(t *Table, how revealed) {
	for i := range r.sums {
		r.sums[i] = logAdder{top: math.Inf(-1)}
	}
	for a, g := range r.g {
		if math.IsInf(g, -1) {
			continue
		}
		n := r.branch(a, g, t.row(a), how)
		for j, b := range r.sets[:n] {
			if log := r.logs[j]; !math.IsInf(log, -1) {
				r.sums[b].add(log)
			}
		}
	}
	for b := range r.g {
		r.g[b] = r.sums[b].log()
	}
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

// branch lists the results of a call on a set of log-probability g and returns their number. row
// holds the log-probabilities of the text's tokens.
func (r *recursion) branch(set int, g float64, row []float64, how revealed) (n int) {
	n = 1
	r.sets[0], r.logs[0] = set, g
	for i, x := range row {
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
