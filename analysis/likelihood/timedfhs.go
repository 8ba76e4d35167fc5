package likelihood

import (
	"math"
	"math/bits"
	"slices"
)

// FHS returns −log P of the first-hitting sampler: hits with groups of one position.
func (t *TimedTable) FHS() Integral { return t.hits(slices.Repeat([]int{1}, t.D), false) }

// OneByOne returns −log P of uniformization and MATU, whose reveals have independent λ, uniform on
// (0,λ_T) and cut at λ_δ: with masks left, and with a call that fills them.
func (t *TimedTable) OneByOne() (leave, denoise Integral) {
	leave = t.FHS()
	if t.left == nil {
		return leave, leave
	}
	return leave, t.hits(slices.Repeat([]int{1}, t.D), true)
}

// hits returns −log P of parallel FHS, whose call for a group of n positions is at the first of
// their hits. With J the integral from the lower end to λ,
//
//	G_[d] = 1,  G_A = n!·Σ_{B⊃A, |B∖A|=n} J(Π_{l∈B∖A} μ^l(x_l | x_A, ·)·J^(n−1) G_B),  P = G_∅(λ_T)/λ_T^d,
//
// where J^(n−1) is over the other hits of the group, and integrands are polynomials through the
// nodes. fill adds λ_δ^(d−|A|)·Π_{l∉A} μ^l(x_l | x_A, λ_δ) to G_A, for groups of one.
func (t *TimedTable) hits(sizes []int, fill bool) Integral {
	return t.integral(func(rule quadrature, tables []*Table) float64 { return t.hitsBy(rule, tables, sizes, fill) })
}

func (t *TimedTable) hitsBy(rule quadrature, tables []*Table, sizes []int, fill bool) float64 {
	d, q, full := t.D, len(rule.nodes), 1<<t.D-1
	if fill {
		tables = append(tables[:q:q], t.left)
	}
	mu, tilt := tilted(tables)
	g, logs := make([]float64, (full+1)*q), make([]float64, full+1) // G_A is g times e^logs
	for j := range q {
		g[full*q+j] = 1
	}
	visible, total, parts := d, 0.0, []int(nil)
	integrand, product, values := make([]float64, q), make([]float64, q), make([]float64, q)
	for n := len(sizes) - 1; n >= 0; n-- {
		size := sizes[n]
		// Integrate the other hits of the group first, for every B.
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
			left := full &^ a
			logOf := func(part int) float64 {
				sum := logs[a|part]
				for rest := part; rest != 0; rest &= rest - 1 {
					sum += tilt[a*d+bits.TrailingZeros(uint(rest))]
				}
				return sum
			}
			top := math.Inf(-1)
			if fill {
				top = logOf(left)
			}
			parts = parts[:0]
			for part := -left & left; part != 0; part = (part - left) & left {
				if bits.OnesCount(uint(part)) == size {
					parts, top = append(parts, part), max(top, logOf(part))
				}
			}
			if logs[a] = top; math.IsInf(top, -1) {
				total = 0
				continue
			}
			for _, part := range parts {
				copy(product, g[(a|part)*q:(a|part+1)*q])
				for rest := part; rest != 0; rest &= rest - 1 {
					i := bits.TrailingZeros(uint(rest))
					for j := range q {
						product[j] *= mu[j][a*d+i]
					}
				}
				scale := factorial * math.Exp(logOf(part)-top)
				for j, x := range product {
					integrand[j] += scale * x
				}
			}
			filled := 0.0
			if fill {
				filled = math.Exp(logOf(left) - top)
				for rest := left; rest != 0; rest &= rest - 1 {
					filled *= t.low * mu[q][a*d+bits.TrailingZeros(uint(rest))]
				}
			}
			total = filled + rule.integrate(integrand, g[a*q:(a+1)*q])
			for j := range q {
				g[a*q+j] += filled
			}
		}
	}
	return float64(d)*math.Log(t.high) - math.Log(max(total, 0)) - logs[0]
}

// tilted returns the probabilities μ^i(x_i|x_A)·e^(−tilt_i) of tables, indexed as LogMu, and Σ of
// the tilts. tilt_i is the greatest log μ of position i, or 0 if all are −Inf, which keeps the
// numbers moderate for any text.
func tilted(tables []*Table) (mu [][]float64, tilt []float64) {
	tilt = slices.Clone(tables[0].LogMu)
	for _, t := range tables {
		for at, x := range t.LogMu {
			tilt[at] = max(tilt[at], x)
		}
	}
	for _, t := range tables {
		out := make([]float64, len(tilt))
		for at, x := range t.LogMu {
			if !math.IsInf(x, -1) {
				out[at] = math.Exp(x - tilt[at])
			}
		}
		mu = append(mu, out)
	}
	return mu, tilt
}

// integrate writes the integrals from the lower end to each node to dst, given values at the nodes,
// and returns the whole integral.
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
