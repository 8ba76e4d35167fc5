package likelihood

import (
	"math"
	"math/bits"
)

// FHS returns −log P of the first-hitting sampler,
//
//	G_[d] = 1,  G_A(λ) = Σ_{i∉A} ∫_0^λ μ^i(x_i | x_A, λ')·G_{A∪i}(λ') dλ',  P = G_∅(1),
//
// with the integrands as polynomials through the nodes.
func (t *TimedTable) FHS() Integral {
	return t.integral(func(rule quadrature, tables []*Table) float64 { return t.sequential(rule, tables, false) })
}

// OneByOne returns −log P of uniformization and MATU, whose reveals have independent λ,
// uniform on (0,λ_T) and cut at λ_δ, with masks left and with a call that fills them:
// the recursion of FHS with the lower end λ_δ, for the second with λ_δ^(d−|A|)·Π_{l∉A} μ^l(x_l | x_A, λ_δ)
// added to G_A, and P = G_∅(λ_T)/λ_T^d.
func (t *TimedTable) OneByOne() (leave, denoise Integral) {
	leave = t.integral(func(rule quadrature, tables []*Table) float64 { return t.sequential(rule, tables, false) })
	if t.left == nil {
		return leave, leave
	}
	return leave, t.integral(func(rule quadrature, tables []*Table) float64 { return t.sequential(rule, tables, true) })
}

// tilted returns the tilted probabilities of tables, and Σ of the tilts: the greatest
// log μ of each position, as grids have it.
func tilted(d int, tables []*Table) (mu [][]float64, scale float64) {
	tilt := make([]float64, d)
	for i := range tilt {
		tilt[i] = math.Inf(-1)
	}
	for _, table := range tables {
		for i, c := range table.tilt() {
			tilt[i] = max(tilt[i], c)
		}
	}
	for _, c := range tilt {
		scale += c
	}
	for _, table := range tables {
		mu = append(mu, table.tilted(tilt))
	}
	return mu, scale
}

// sequential runs the recursion; fill says that what is left is filled.
func (t *TimedTable) sequential(rule quadrature, tables []*Table, fill bool) float64 {
	if fill {
		tables = append(tables[:len(tables):len(tables)], t.left)
	}
	mu, scale := tilted(t.D, tables)
	d, q, full := t.D, len(rule.nodes), 1<<t.D-1
	g := make([]float64, (full+1)*q)
	for j := range q {
		g[full*q+j] = 1
	}
	integrand := make([]float64, q)
	var total float64
	for a := full - 1; a >= 0; a-- {
		clear(integrand)
		left := 1.0
		for rest := full &^ a; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros(uint(rest))
			for j := range q {
				integrand[j] += mu[j][a*d+i] * g[(a|1<<i)*q+j]
			}
			if fill {
				left *= t.low * mu[q][a*d+i]
			}
		}
		if !fill {
			left = 0
		}
		total = left + rule.integrate(integrand, g[a*q:(a+1)*q])
		for j := range q {
			g[a*q+j] += left
		}
	}
	return float64(d)*math.Log(t.high) - math.Log(max(total, 0)) - scale
}

// integrate writes to dst the integrals up to each node of what values are at the nodes,
// and returns the whole.
func (r quadrature) integrate(values, dst []float64) (total float64) {
	q := len(r.nodes)
	for at := range q {
		var sum float64
		for j, f := range values {
			sum += r.upTo[at*q+j] * f
		}
		dst[at] = sum
	}
	for j, f := range values {
		total += r.weights[j] * f
	}
	return total
}

// Groups returns −log P of parallel FHS, whose call for a group of n positions is asked at the
// first of their hits: with J the integral from 0 to λ,
//
//	G_A = n!·Σ_{B⊃A, |B∖A|=n} J(Π_{l∈B∖A} μ^l(x_l | x_A, ·)·J^(n−1) G_B),  P = G_∅(1),
//
// J^(n−1) being over the other hits of the group.
func (t *TimedTable) Groups(sizes []int) Integral {
	return t.integral(func(rule quadrature, tables []*Table) float64 { return t.groups(rule, tables, sizes) })
}

func (t *TimedTable) groups(rule quadrature, tables []*Table, sizes []int) float64 {
	mu, scale := tilted(t.D, tables)
	d, q, full := t.D, len(rule.nodes), 1<<t.D-1
	g := make([]float64, (full+1)*q)
	for j := range q {
		g[full*q+j] = 1
	}
	visible := d
	integrand, product, values := make([]float64, q), make([]float64, q), make([]float64, q)
	var total float64
	for n := len(sizes) - 1; n >= 0; n-- {
		size := sizes[n]
		// First the other hits of the group, on every B.
		factorial := float64(size)
		for k := 1; k < size; k++ {
			factorial *= float64(k)
			for b := range full + 1 {
				if bits.OnesCount(uint(b)) == visible {
					copy(values, g[b*q:(b+1)*q])
					rule.integrate(values, g[b*q:(b+1)*q])
				}
			}
		}
		visible -= size
		for a := range full + 1 {
			if bits.OnesCount(uint(a)) != visible {
				continue
			}
			clear(integrand)
			for part := full &^ a; part != 0; part = (part - 1) & (full &^ a) {
				if bits.OnesCount(uint(part)) != size {
					continue
				}
				copy(product, g[(a|part)*q:(a|part+1)*q])
				for rest := part; rest != 0; rest &= rest - 1 {
					i := bits.TrailingZeros(uint(rest))
					for j := range q {
						product[j] *= mu[j][a*d+i]
					}
				}
				for j, x := range product {
					integrand[j] += factorial * x
				}
			}
			total = rule.integrate(integrand, g[a*q:(a+1)*q])
		}
	}
	return -math.Log(max(total, 0)) - scale
}
