package likelihood

import (
	"math"
	"math/bits"

	"mdmgen/samplers/schedule"
)

// GridLaw is −log P of a grid sampler: with masks left where they are, so that
// only paths count that reveal everything, and with one more call that fills what
// is left.
type GridLaw struct{ Leave, Denoise float64 }

// Grid returns −log P of Euler, Tweedie or τ-leaping on a grid, exactly, by a pass
// over pairs of subsets for each step with jump probability p:
//
//	g'(B) = Σ_{A⊆B} g(A)·p^|B∖A|·(1−p)^(d−|B|)·Π_{l∈B∖A} μ^l(x_l | x_A).
//
// A pass takes 3^d products.
func (t *Table) Grid(s schedule.Steps) GridLaw {
	at := func(int) (*Table, error) { return t, nil }
	law, _ := gridLaw(t.D, s, at)
	return law
}

// gridLaw runs the recursion with the table of each step, step N being the call that
// fills what is left. The numbers are those of probabilities divided by Π_{i∈A} of
// the greatest μ^i in the first table, and so of a moderate size whatever the text;
// where even so they leave float64's range, logarithms are summed.
func gridLaw(d int, s schedule.Steps, at func(step int) (*Table, error)) (GridLaw, error) {
	first, err := at(0)
	if err != nil {
		return GridLaw{}, err
	}
	tilt := first.tilt()
	r := newGridPass(d)
	r.g[0] = 1
	var scale float64
	for _, c := range tilt {
		scale += c
	}
	var mu []float64
	var of *Table
	step := func(k int, p float64) error {
		t, err := at(k)
		if err != nil {
			return err
		}
		if t != of {
			mu, of = t.tilted(tilt), t
		}
		r.step(mu, p)
		return nil
	}
	for k, p := range s.Jump {
		if p == 0 {
			continue
		}
		if err := step(k, p); err != nil {
			return GridLaw{}, err
		}
	}
	full := 1<<d - 1
	leave := r.g[full]
	if err := step(len(s.Jump), 1); err != nil {
		return GridLaw{}, err
	}
	// A sum of positive products is exact to rounding unless products fell out of
	// the range of float64.
	if denoise := r.g[full]; leave > leastSum && denoise > leastSum {
		return GridLaw{-math.Log(leave) - scale, -math.Log(denoise) - scale}, nil
	}
	return gridLawLog(d, s, at)
}

// leastSum is how small a tilted probability may be before logarithms are summed:
// far above 2^-1022·3^16, what could be lost to underflow.
const leastSum = 1e-280

// tilt returns the greatest log μ^i of each position, 0 where all are −Inf.
func (t *Table) tilt() []float64 {
	out := make([]float64, t.D)
	for i := range out {
		top := math.Inf(-1)
		for a := range 1 << t.D {
			if a>>i&1 == 0 {
				top = max(top, t.LogMu[a*t.D+i])
			}
		}
		if !math.IsInf(top, -1) {
			out[i] = top
		}
	}
	return out
}

// tilted returns μ^i(x_i|x_A)·e^(−tilt_i), indexed as LogMu.
func (t *Table) tilted(tilt []float64) []float64 {
	out := make([]float64, len(t.LogMu))
	for a := range 1 << t.D {
		for i := range t.D {
			if a>>i&1 == 0 {
				out[a*t.D+i] = math.Exp(t.LogMu[a*t.D+i] - tilt[i])
			}
		}
	}
	return out
}

// gridPass is the memory of a recursion.
type gridPass struct {
	d       int
	g, next []float64
	// products and sets run over the subsets of the masked positions of one A.
	products []float64
	sets     []int
}

func newGridPass(d int) *gridPass {
	n := 1 << d
	return &gridPass{d: d, g: make([]float64, n), next: make([]float64, n), products: make([]float64, n), sets: make([]int, n)}
}

// step applies one step with jump probability p to r.g.
func (r *gridPass) step(mu []float64, p float64) {
	clear(r.next)
	full := 1<<r.d - 1
	for a, g := range r.g {
		if g == 0 {
			continue
		}
		n := r.branch(a, full, g, p, mu[a*r.d:(a+1)*r.d])
		for j, b := range r.sets[:n] {
			r.next[b] += r.products[j]
		}
	}
	r.g, r.next = r.next, r.g
}

// branch sets r.products[:n] and r.sets[:n] to what becomes of the set a, of weight g, if
// each position outside is revealed with probability p and then has its token with the
// probability in row.
func (r *gridPass) branch(a, full int, g, p float64, row []float64) (n int) {
	n = 1
	r.products[0], r.sets[0] = g, a
	if p == 1 {
		for rest := full &^ a; rest != 0; rest &= rest - 1 {
			r.products[0] *= row[bits.TrailingZeros(uint(rest))]
		}
		r.sets[0] = full
		return n
	}
	for rest := full &^ a; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros(uint(rest))
		jump, stay, bit := p*row[i], 1-p, 1<<i
		for j := range n {
			r.products[n+j] = r.products[j] * jump
			r.products[j] *= stay
			r.sets[n+j] = r.sets[j] | bit
		}
		n *= 2
	}
	return n
}

// gridLawLog is gridLaw in logarithms: slower by an exponential a product.
func gridLawLog(d int, s schedule.Steps, at func(step int) (*Table, error)) (GridLaw, error) {
	r := newLookBack(d)
	for k, p := range s.Jump {
		if p == 0 {
			continue
		}
		t, err := at(k)
		if err != nil {
			return GridLaw{}, err
		}
		r.call(t, halfStep(p))
	}
	leave := -r.whole()
	t, err := at(len(s.Jump))
	if err != nil {
		return GridLaw{}, err
	}
	r.call(t, rest)
	return GridLaw{leave, -r.whole()}, nil
}

// Groups returns −log P of parallel FHS: positions in uniform order, revealed in
// groups of the given sizes, which sum to d, the tokens of a group independent:
//
//	g'(B) = 1/C(m, n)·Σ_{A⊂B, |B∖A|=n} g(A)·Π_{l∈B∖A} μ^l(x_l | x_A),  m = d−|A|.
//
// Groups of one position have the bits of [Table.FHS], whose order of summation this is.
func (t *Table) Groups(sizes []int) float64 {
	n := 1 << t.D
	g, next := make([]float64, n), make([]float64, n)
	for a := 1; a < n; a++ {
		g[a] = math.Inf(-1)
	}
	visible := 0
	for _, size := range sizes {
		choose := logChoose(t.D-visible, size)
		for b := range next {
			next[b] = math.Inf(-1)
			if bits.OnesCount(uint(b)) != visible+size {
				continue
			}
			var terms []float64
			for a := b; ; a = (a - 1) & b {
				if bits.OnesCount(uint(a)) == visible {
					x := g[a]
					for rest := b &^ a; rest != 0; rest &= rest - 1 {
						x += t.LogMu[a*t.D+bits.TrailingZeros(uint(rest))]
					}
					terms = append(terms, x)
				}
				if a == 0 {
					break
				}
			}
			next[b] = logSum(terms) - choose
		}
		visible += size
		g, next = next, g
	}
	return -g[n-1]
}

// logChoose is log C(n, k).
func logChoose(n, k int) float64 {
	var sum float64
	for i := range k {
		sum += math.Log(float64(n-i)) - math.Log(float64(i+1))
	}
	return sum
}
