package likelihood

import (
	"math"
	"math/bits"

	"mdmgen/samplers"
)

// halves is one step of a trapezoidal grid: rows for its first half, mixtures of the rows
// of both halves for its second.
type halves struct {
	// mu are the tilted probabilities of a plain fill, indexed as [Table.LogMu].
	mu  []float64
	mix *mixes
}

// Trapezoidal returns −log P of the trapezoidal plan on a network without time, exactly.
// s holds the law of its half steps, two a step; in the second half of each a token is
// drawn from max((1+w)·p − w·p′, floor·p), normalised, p′ the row at the start of the
// step. The recursion runs over sets A ⊆ B ⊆ C, those visible before a step, after its
// first half and after it, with the probabilities p and q of the halves,
//
//	g'(C) = Σ g(A)·p^|B∖A|·(1−p)^(d−|B|)·q^|C∖B|·(1−q)^(d−|C|)·Π_{l∈B∖A} μ^l(x_l|x_A)·Π_{l∈C∖B} m^l(x_l|x_A,x_B),
//
// 4^d products a step, after 3^(d−1)·d sums over the vocabulary in all.
func (t *RowTable) Trapezoidal(s samplers.Steps, w, floor float64) GridLaw {
	tilt := t.tilt()
	all := halves{mu: t.tilted(tilt), mix: t.mixes(tilt, mixture{w, floor, oneStep(s)})}
	law, _ := trapezoidalLaw(t.D, s, tilt, func(int) (halves, error) { return all, nil })
	return law
}

// oneStep says that all sets before a step are empty.
func oneStep(s samplers.Steps) bool { return len(s.Jump) <= 2 }

// mixtureOf names the mixtures of a trapezoidal sampler.
func mixtureOf(s *samplers.Sampler) (of mixture, ok bool) {
	law, _ := s.Law()
	if law.Steps == nil || !law.LookBack {
		return mixture{}, false
	}
	return mixture{trapezoidalWeight, law.Floor, oneStep(*law.Steps)}, true
}

// trapezoidalLaw runs the recursion with the rows of each step, step N having those of
// the call that fills what is left. As in [gridLaw], logarithms are summed where
// products leave the range of float64.
func trapezoidalLaw(d int, s samplers.Steps, tilt []float64, at func(step int) (halves, error)) (GridLaw, error) {
	var scale float64
	for _, c := range tilt {
		scale += c
	}
	for _, pass := range []trapezoidalPass{newProductPass(d), newLogPass(d)} {
		for k := 0; k+1 < len(s.Jump); k += 2 {
			h, err := at(k / 2)
			if err != nil {
				return GridLaw{}, err
			}
			pass.step(h, s.Jump[k], s.Jump[k+1])
		}
		leave := pass.whole()
		h, err := at(len(s.Jump) / 2)
		if err != nil {
			return GridLaw{}, err
		}
		pass.fill(h.mu)
		if denoise := pass.whole(); min(leave, denoise) > math.Log(leastSum) || pass.exact(s) {
			return GridLaw{Leave: -leave - scale, Denoise: -denoise - scale}, nil
		}
	}
	panic("likelihood: a sum of logarithms was refused")
}

// trapezoidalPass is a recursion in one arithmetic.
type trapezoidalPass interface {
	step(h halves, p, q float64)
	// fill reveals everything that is masked.
	fill(mu []float64)
	// whole is log g([d]).
	whole() float64
	// exact says that no product can have been too small for the arithmetic: that 0 is 0.
	exact(s samplers.Steps) bool
}

// productPass sums products.
type productPass struct {
	gridPass
	second gridPass
	values []float64
	// least is the least probability of a token above 0.
	least float64
}

func newProductPass(d int) *productPass {
	p := &productPass{gridPass: *newGridPass(d), second: *newGridPass(d), values: make([]float64, d), least: 1}
	p.g[0] = 1
	return p
}

func (r *productPass) whole() float64 { return math.Log(r.g[1<<r.d-1]) }

func (r *productPass) fill(mu []float64) {
	r.see(mu)
	r.gridPass.step(mu, 1)
}

// exact holds where even a product of the least factors, each with the least probability
// of a step, is large enough.
func (r *productPass) exact(s samplers.Steps) bool {
	least := 1.0
	for _, w := range append(s.Reveal[:len(s.Reveal):len(s.Reveal)], s.Left()) {
		if w > 0 {
			least = min(least, w)
		}
	}
	return math.Pow(r.least*least, float64(r.d)) > leastSum
}

func (r *productPass) see(values []float64) {
	for _, x := range values {
		if x > 0 {
			r.least = min(r.least, x)
		}
	}
}

func (r *productPass) step(h halves, p, q float64) {
	r.see(h.mu)
	for _, of := range h.mix.of {
		r.see(of)
	}
	clear(r.next)
	full := 1<<r.d - 1
	for a, g := range r.g {
		if g == 0 {
			continue
		}
		row := h.mu[a*r.d : (a+1)*r.d]
		n := r.branch(a, full, g, p, row)
		for j, b := range r.sets[:n] {
			if r.products[j] == 0 {
				continue
			}
			for rest := full &^ b; rest != 0; rest &= rest - 1 {
				i := bits.TrailingZeros(uint(rest))
				r.values[i] = h.mix.at(a, b, i)
			}
			m := r.second.branch(b, full, r.products[j], q, r.values)
			for k, c := range r.second.sets[:m] {
				r.next[c] += r.second.products[k]
			}
		}
	}
	r.g, r.next = r.next, r.g
}

// logPass sums logarithms: slower by an exponential a product.
type logPass struct {
	d int
	g []float64
}

func newLogPass(d int) *logPass {
	r := &logPass{d: d}
	r.clear()
	r.g[0] = 0
	return r
}

// clear returns what was and begins with probability 0 everywhere.
func (r *logPass) clear() (was []float64) {
	was, r.g = r.g, make([]float64, 1<<r.d)
	for i := range r.g {
		r.g[i] = math.Inf(-1)
	}
	return was
}

func (r *logPass) whole() float64 { return r.g[1<<r.d-1] }

func (r *logPass) exact(samplers.Steps) bool { return true }

func (r *logPass) fill(mu []float64) {
	for a, g := range r.clear() {
		r.branch(0, a, g, 1, func(i int) float64 { return mu[a*r.d+i] }, r.add)
	}
}

func (r *logPass) step(h halves, p, q float64) {
	for a, g := range r.clear() {
		r.branch(0, a, g, p, func(i int) float64 { return h.mu[a*r.d+i] }, func(b int, x float64) {
			r.branch(0, b, x, q, func(i int) float64 { return h.mix.at(a, b, i) }, r.add)
		})
	}
}

func (r *logPass) add(set int, x float64) { r.g[set] = logAdd(r.g[set], x) }

// branch calls leaf with each set that positions from on can make of a set, and the
// logarithm of its probability; value must not see what branch reveals.
func (r *logPass) branch(from, set int, g, p float64, value func(i int) float64, leaf func(set int, g float64)) {
	for i := from; i < r.d; i++ {
		if set>>i&1 == 0 {
			if p < 1 {
				r.branch(i+1, set, g+math.Log1p(-p), p, value, leaf)
			}
			if p > 0 {
				r.branch(i+1, set|1<<i, g+math.Log(p)+math.Log(value(i)), p, value, leaf)
			}
			return
		}
	}
	if !math.IsInf(g, -1) {
		leaf(set, g)
	}
}
