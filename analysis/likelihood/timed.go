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
	// low and high are the ends of λ, 0 and 1 but for [TimedTable.OneByOne]; left is the
	// table at low, nil where that is 0.
	low, high float64
	left      *Table
}

// Integral is an integral over λ by quadrature, in nats, with how far the rule of
// half as many nodes is from it: more than its error, where the quadrature converges.
type Integral struct{ Value, Error float64 }

// TimedTable asks for all subsets of a window at each of a number of nodes in λ, which
// must be odd; 0 is [DefaultNodes].
func (e *Evaluator) TimedTable(ctx context.Context, t Target, nodes int, mass bool) (*TimedTable, error) {
	return e.timedTable(ctx, t, nodes, mass, 0, 1)
}

// timedTable is TimedTable for λ between two ends.
func (e *Evaluator) timedTable(ctx context.Context, t Target, nodes int, mass bool, low, high float64) (*TimedTable, error) {
	if nodes == 0 {
		nodes = DefaultNodes
	}
	if nodes < 3 || nodes > 1001 || nodes%2 == 0 {
		return nil, fmt.Errorf("likelihood: %d nodes: must be odd and in 3..1001", nodes)
	}
	d := len(t.Free)
	if err := timedRows(d, nodes); err != nil {
		return nil, err
	}
	out := &TimedTable{D: d, rule: fejer(nodes+1).between(low, high), half: fejer((nodes+1)/2).between(low, high), low: low, high: high}
	at := func(lambda float64) (*Table, error) {
		tables, err := e.tablesAt(ctx, []Target{t}, mass, func(int) float64 { return lambda })
		if err != nil {
			return nil, err
		}
		return tables[0], nil
	}
	for _, lambda := range out.rule.nodes {
		table, err := at(lambda)
		if err != nil {
			return nil, err
		}
		out.tables = append(out.tables, table)
	}
	if low > 0 {
		var err error
		if out.left, err = at(low); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// timedRows refuses tables at a number of times that take too many rows.
func timedRows(d, times int) error {
	if rows := float64(times) * math.Ldexp(1, d); rows > MaxRows || d > MaxFree {
		return &TooLargeError{Free: d, Rows: rows, Most: min(MaxFree, int(math.Log2(MaxRows/float64(times))))}
	}
	return nil
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
