package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomTable returns a table of log-probabilities of a given size, some of them −Inf.
func randomTable(d int, nats float64, seed uint64, zeros bool) *Table {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &Table{D: d, LogMu: make([]float64, d<<d)}
	for a := range 1 << d {
		for i := range d {
			if a>>i&1 == 1 {
				continue
			}
			t.LogMu[a*d+i] = -nats * r.Float64()
			if zeros && r.IntN(4) == 0 {
				t.LogMu[a*d+i] = math.Inf(-1)
			}
		}
	}
	return t
}

func sameLog(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-11*max(1, math.Abs(b)) }

// TestOrders checks FHS against the mean over all orders, and Jensen's inequality for any rows:
// −log P_FHS ≤ NELBO, which is the mean cost.
func TestOrders(t *testing.T) {
	for seed := range uint64(20) {
		table := randomTable(5, 4, seed, false)
		var p, mean float64
		costs := pathCosts(table)
		for _, c := range costs {
			p += math.Exp(-c) / float64(len(costs))
			mean += c / float64(len(costs))
		}
		if !sameLog(table.FHS(), -math.Log(p)) || !sameLog(table.NELBO(), mean) || table.FHS() > table.NELBO() {
			t.Errorf("seed %d: FHS %v, NELBO %v, want %v, %v", seed, table.FHS(), table.NELBO(), -math.Log(p), mean)
		}
		if got, want := table.LeftToRight(), table.Chain([]int{0, 1, 2, 3, 4}); got != want {
			t.Errorf("seed %d: left to right %v, want %v", seed, got, want)
		}
	}
	zero := randomTable(4, 2, 3, false)
	zero.LogMu[0] = math.Inf(-1) // one row excludes its token
	if !math.IsInf(zero.NELBO(), 1) || math.IsInf(zero.FHS(), 1) {
		t.Errorf("a row of probability 0: NELBO %v, FHS %v: want +Inf and a number", zero.NELBO(), zero.FHS())
	}
}

// TestQuadrature checks the rules on functions whose integrals are known.
func TestQuadrature(t *testing.T) {
	for _, c := range [][2]int{{16, 1}, {32, 1}, {32, 2}} {
		n, start := c[0], c[1]
		r := fejer(n, start)
		for power := range 3 {
			var sum float64
			for j, x := range r.nodes {
				sum += r.weights[j] * math.Pow(x, float64(power))
			}
			if want := 1 / float64(power+1); math.Abs(sum-want) > 1e-14 {
				t.Errorf("%d nodes: ∫ x^%d is %v, want %v", n-1, power, sum, want)
			}
			for at, end := range r.nodes {
				sum = 0
				for j, x := range r.nodes {
					sum += r.upTo[at*len(r.nodes)+j] * math.Pow(x, float64(power))
				}
				if want := math.Pow(end, float64(power+1)) / float64(power+1); math.Abs(sum-want) > 1e-14 {
					t.Errorf("%d nodes: ∫ x^%d up to %v is %v, want %v", n-1, power, end, sum, want)
				}
			}
		}
		// Every second node is a node of the rule with half as many nodes.
		for j, x := range fejer(n/2, start).nodes {
			if math.Abs(x-r.nodes[2*j+1]) > 1e-15 {
				t.Errorf("node %d of the half rule is %v, want %v", j, x, r.nodes[2*j+1])
			}
		}
	}
}
