package likelihood

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// Limits of quadratures over the masked fraction λ of a time-conditioned network: the initial and
// the greatest number of nodes, the greatest number of rows per window, and the default tolerance
// in nats.
const (
	DefaultNodes        = 31
	MaxNodes            = 1023
	MaxRows             = 1 << 21
	QuadratureTolerance = 1e-5
)

// A world's rows are in float64 and cheap, and contain λ^p with any p ≥ 0, which is singular at 0.
const (
	worldStart     = 4
	worldTolerance = 1e-11
)

// TimedTable holds the log-probabilities of a window for all subsets at the nodes of a quadrature
// over λ, for a time-conditioned network. It does not change.
type TimedTable struct {
	D int
	// tables[q] is the table at node q of the finest rule; the other rules use every second and
	// every fourth node.
	tables []*Table
	rules  []quadrature
	// low and high are the ends of λ, 0 and 1 except for [TimedTable.OneByOne]; left is the table
	// at low, nil if low is 0.
	low, high float64
	left      *Table
	// costs and entropy are the tables of [Evaluator.meanCosts] for a world, nil for a network.
	costs, entropy *Table
	// start is the parameter of [fejer]; tolerance is the error that ends the refinement.
	start     int
	tolerance float64
	// jumps is set where rows are no smooth function of λ: truncated ones, or those at temperature 0.
	jumps bool
}

// Integral is an integral over λ by quadrature, in nats, with an estimate of its error: the
// distance to the rule with half as many nodes, or a sixteenth of the distance from that rule to
// the one with a quarter, whichever is greater. The latter is there because two rules may agree by
// chance. In all networks tested, rows that converge at all gain more than a factor of 16 from
// doubling. Where rows jump between two nodes, rules agree by chance more often: there it is also at
// least the distance to the integrals with each row's probabilities replaced by the least, and the
// greatest, of those at the node and its neighbours.
type Integral struct{ Value, Error float64 }

// chance is the factor in [Integral]. Agreement within certain, relative to max(1, |value|), does
// not count as chance, since float32 rows do not even agree with themselves so closely.
const (
	chance  = 16
	certain = 1e-9
)

// Nodes returns the number of nodes of the finest rule.
func (t *TimedTable) Nodes() int { return len(t.tables) }

// timedTable computes the tables of a window at DefaultNodes nodes in λ between two ends.
func (e *Evaluator) timedTable(ctx context.Context, t Target, mass bool, low, high float64) (*TimedTable, error) {
	out := &TimedTable{D: len(t.Free), low: low, high: high, start: 1, tolerance: QuadratureTolerance,
		jumps: e.opts.Draw.Truncates() || e.opts.Draw.AtTemperature() == 0}
	if e.facts.Family == "world" {
		out.start, out.tolerance = worldStart, worldTolerance
	}
	err := out.refine(ctx, e, t, DefaultNodes, mass)
	if err == nil && low > 0 {
		out.left, err = e.tableAt(ctx, t, mass, low)
	}
	return out, err
}

// TimedTableWithin doubles the nodes, from [DefaultNodes] on, until the errors of −log P of the
// first-hitting sampler and of the NELBO are at most tolerance (nats; 0 means
// [QuadratureTolerance], or 1e-11 for a world), or until the limit of rows or [MaxNodes] is
// reached. Nodes are kept, so each row is computed once. Each [Integral] holds the error reached.
func (e *Evaluator) TimedTableWithin(ctx context.Context, t Target, tolerance float64, mass bool) (*TimedTable, error) {
	out, err := e.timedTable(ctx, t, mass, 0, 1)
	if err != nil {
		return nil, err
	}
	if e.table != nil {
		out.costs, out.entropy = e.meanCosts(t)
	}
	return out, out.within(ctx, e, t, tolerance, mass, func() float64 { return max(out.FHS().Error, out.NELBO().Error) })
}

// within doubles the nodes until the error is at most tolerance, 0 being t's own, or a limit is
// reached.
func (t *TimedTable) within(ctx context.Context, e *Evaluator, target Target, tolerance float64, mass bool, reached func() float64) error {
	if tolerance == 0 {
		tolerance = t.tolerance
	}
	for {
		next := 2*t.Nodes() + 1
		if next > MaxNodes || timedRows(t.D, next) != nil || reached() <= tolerance {
			return nil
		}
		if err := t.refine(ctx, e, target, next, mass); err != nil {
			return err
		}
	}
}

// timedRows returns an error if tables at a number of times take too many rows.
func timedRows(d, times int) error {
	if rows := TimedRows(d, times); rows > MaxRows || d > MaxFree {
		return &TooLargeError{Free: d, Rows: rows, Most: max(0, min(MaxFree, int(math.Log2(MaxRows/float64(times)))))}
	}
	return nil
}

// TimedRows returns the number of network rows, for d free positions, of a quadrature, or of a grid
// of nodes−1 steps with its finishing call.
func TimedRows(d, nodes int) float64 { return float64(nodes) * math.Ldexp(1, d) }

// refine computes the missing nodes, 2^k−1 in all.
func (t *TimedTable) refine(ctx context.Context, e *Evaluator, target Target, nodes int, mass bool) error {
	if err := timedRows(t.D, nodes); err != nil {
		return err
	}
	var rules []quadrature
	for n := nodes + 1; len(rules) < 3; n /= 2 {
		rules = append(rules, fejer(n, t.start).between(t.low, t.high))
	}
	tables := make([]*Table, nodes)
	for j := range tables {
		if j%2 == 1 && len(t.tables) == nodes/2 {
			tables[j] = t.tables[j/2]
			continue
		}
		var err error
		// As [sigma] does for networks: at 1 itself a world's row may have a 0.
		if tables[j], err = e.tableAt(ctx, target, mass, min(rules[0].nodes[j], 1-0x1p-53)); err != nil {
			return err
		}
	}
	t.rules, t.tables = rules, tables
	return nil
}

// integral applies do to each rule and estimates the error.
func (t *TimedTable) integral(do func(rule quadrature, tables []*Table) float64) Integral {
	var values []float64
	tables := t.tables
	for i, rule := range t.rules {
		if i > 0 {
			var half []*Table
			for j := 1; j < len(tables); j += 2 {
				half = append(half, tables[j])
			}
			tables = half
		}
		values = append(values, do(rule, tables))
	}
	out := Integral{Value: values[0]}
	for i := range len(values) - 1 {
		if values[i] == values[i+1] {
			continue // also if both are infinite
		}
		apart := math.Abs(values[i+1] - values[i])
		if i > 0 {
			apart /= chance
		}
		out.Error = max(out.Error, apart)
		if i == 0 && apart <= certain*max(1, math.Abs(values[0])) {
			break
		}
	}
	for _, pick := range []func(a, b float64) float64{math.Min, math.Max} {
		if !t.jumps {
			break
		}
		if near := do(t.rules[0], t.near(pick)); near != out.Value {
			out.Error = max(out.Error, math.Abs(near-out.Value))
		}
	}
	return out
}

// near returns the tables with each log μ replaced by what pick returns for those of the node and
// its neighbours.
func (t *TimedTable) near(pick func(a, b float64) float64) []*Table {
	out := make([]*Table, len(t.tables))
	for j, table := range t.tables {
		moved := *table
		moved.LogMu = slices.Clone(table.LogMu)
		for _, other := range t.tables[max(0, j-1):min(j+2, len(t.tables))] {
			for at, x := range other.LogMu {
				moved.LogMu[at] = pick(moved.LogMu[at], x)
			}
		}
		out[j] = &moved
	}
	return out
}

// NELBO returns L_∞ = ∫_0^1 (1/λ)·E_λ Σ_{masked} −log μ^l(x_l | x, λ) dλ.
func (t *TimedTable) NELBO() Integral {
	if t.costs != nil {
		return Integral{Value: t.costs.NELBO()}
	}
	return t.integral(func(rule quadrature, tables []*Table) float64 {
		var sum float64
		for j, lambda := range rule.nodes {
			sum += rule.weights[j] * tables[j].integrand(lambda, crossEntropy)
		}
		return sum
	})
}

// integrand returns (1/λ)·E_λ Σ_{l masked} cost, where positions are masked independently with
// probability λ.
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
