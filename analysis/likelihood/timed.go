package likelihood

import (
	"context"
	"fmt"
	"math"
	"math/bits"
)

// The defaults of quadratures over the masked fraction λ of a time-conditioned
// network: the number of nodes, and the rows that a window may take in all.
const (
	DefaultNodes = 31
	MaxRows      = 1 << 21
)

// TimedTable holds the log-probabilities of a window on all subsets at the nodes
// of a quadrature over λ, for a time-conditioned network. It does not change.
type TimedTable struct {
	D int
	// tables[q] is the table at node q of the rule, half the rule with every second.
	tables     []*Table
	rule, half quadrature
}

// Integral is an integral over λ by quadrature, in nats, with how far the rule of
// half as many nodes is from it: more than its error, where the quadrature converges.
type Integral struct{ Value, Error float64 }

// TimedTable asks for all subsets of a window at each of a number of nodes in λ, which
// must be odd; 0 is [DefaultNodes].
func (e *Evaluator) TimedTable(ctx context.Context, t Target, nodes int, mass bool) (*TimedTable, error) {
	if nodes == 0 {
		nodes = DefaultNodes
	}
	if nodes < 3 || nodes > 1001 || nodes%2 == 0 {
		return nil, fmt.Errorf("likelihood: %d nodes: must be odd and in 3..1001", nodes)
	}
	d := len(t.Free)
	if rows := float64(nodes) * math.Ldexp(1, d); rows > MaxRows || d > MaxFree {
		return nil, &TooLargeError{Free: d, Rows: rows, Most: min(MaxFree, int(math.Log2(MaxRows/float64(nodes))))}
	}
	out := &TimedTable{D: d, rule: fejer(nodes + 1), half: fejer((nodes + 1) / 2)}
	for _, lambda := range out.rule.nodes {
		tables, err := e.tablesAt(ctx, []Target{t}, mass, func(int) float64 { return lambda })
		if err != nil {
			return nil, err
		}
		out.tables = append(out.tables, tables[0])
	}
	return out, nil
}

// both works something out by the rule and by the half one.
func (t *TimedTable) both(do func(rule quadrature, tables []*Table) float64) Integral {
	var half []*Table
	for j := 1; j < len(t.tables); j += 2 {
		half = append(half, t.tables[j])
	}
	value := do(t.rule, t.tables)
	other := do(t.half, half)
	if value == other {
		return Integral{value, 0} // also where both are infinite
	}
	return Integral{value, math.Abs(other - value)}
}

// FHS returns −log P of the first-hitting sampler,
//
//	G_[d] = 1,  G_A(λ) = Σ_{i∉A} ∫_0^λ μ^i(x_i | x_A, λ')·G_{A∪i}(λ') dλ',  P = G_∅(1),
//
// with the integrands as polynomials through the nodes.
func (t *TimedTable) FHS() Integral {
	return t.both(func(rule quadrature, tables []*Table) float64 { return timedFHS(t.D, rule, tables) })
}

// timedFHS works with G tilted by the greatest μ of each position, as grids do.
func timedFHS(d int, rule quadrature, tables []*Table) float64 {
	q, full := len(rule.nodes), 1<<d-1
	tilt := make([]float64, d)
	for i := range tilt {
		tilt[i] = math.Inf(-1)
	}
	for _, table := range tables {
		for i, c := range table.tilt() {
			tilt[i] = max(tilt[i], c)
		}
	}
	mu := make([][]float64, q)
	for j, table := range tables {
		mu[j] = table.tilted(tilt)
	}
	g := make([]float64, (full+1)*q)
	for j := range q {
		g[full*q+j] = 1
	}
	integrand := make([]float64, q)
	var total float64
	for a := full - 1; a >= 0; a-- {
		clear(integrand)
		for rest := full &^ a; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros(uint(rest))
			for j := range q {
				integrand[j] += mu[j][a*d+i] * g[(a|1<<i)*q+j]
			}
		}
		for at := range q {
			var sum float64
			for j, f := range integrand {
				sum += rule.upTo[at*q+j] * f
			}
			g[a*q+at] = sum
		}
		total = 0
		for j, f := range integrand {
			total += rule.weights[j] * f
		}
	}
	out := -math.Log(max(total, 0))
	for _, c := range tilt {
		out -= c
	}
	return out
}

// NELBO returns L_∞ = ∫_0^1 (1/λ)·E_λ Σ_{masked} −log μ^l(x_l | x, λ) dλ.
func (t *TimedTable) NELBO() Integral {
	return t.both(func(rule quadrature, tables []*Table) float64 {
		var sum float64
		for j, lambda := range rule.nodes {
			sum += rule.weights[j] * tables[j].integrand(lambda, crossEntropy)
		}
		return sum
	})
}

// integrand is (1/λ)·E_λ Σ_{l masked} cost, the expectation over positions that are
// masked independently with probability λ.
func (t *Table) integrand(lambda float64, c cost) float64 {
	var sum float64
	for a := range 1<<t.D - 1 {
		visible := bits.OnesCount(uint(a))
		weight := math.Pow(lambda, float64(t.D-visible-1)) * math.Pow(1-lambda, float64(visible))
		var part float64
		for i := range t.D {
			if a>>i&1 == 0 {
				mass := 0.0
				if t.LogMass != nil {
					mass = t.LogMass[a*t.D+i]
				}
				part += c(t.LogMu[a*t.D+i], mass)
			}
		}
		sum += weight * part
	}
	return sum
}
