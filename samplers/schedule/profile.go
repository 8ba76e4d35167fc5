package schedule

import (
	"cmp"
	"math"
	"slices"
)

// A loss profile is c with c[j] = E[−log μ^l(x_l|x_A)] in nats: the network's loss at a masked
// position l when j of d free positions are visible, with A uniform among the sets of j positions
// and l uniform outside A. The c[j] are the per-count terms of the NELBO, which is Σ_j c[j]. They
// decrease with j for an exact posterior, but not necessarily for a network.
//
// A schedule that reveals several positions in one call reveals all of them at the loss of the
// beginning of the block. Its cost is the expected path loss E_plan[Σ −log μ] in nats per sequence,
// a left Riemann sum of Σ_j c[j]. The difference to that sum is its excess:
//
//	E_plan KL(q0 ‖ P(·|plan)) = E[NELBO] − H(q0) + excess
//
// for any time-free network, hence KL(q0 ‖ P) ≤ E[NELBO] − H(q0) + excess. It does not bound
// KL(P_FHS ‖ P). Schedules in terms of such a profile: Chen, Cong and Li, arXiv 2511.04647;
// Lavenant and Zanella, arXiv 2510.25544; Wainwright, arXiv 2608.13520.

// Monotone returns the non-increasing sequence nearest to c in weighted least squares, by pooling
// adjacent violators. weights are positive, one for each value; nil weights all equally.
func Monotone(c, weights []float64) []float64 {
	type pool struct {
		mean, weight float64
		n            int
	}
	pools := make([]pool, 0, len(c))
	for j, v := range c {
		p := pool{v, 1, 1}
		if weights != nil {
			p.weight = weights[j]
		}
		for len(pools) > 0 && pools[len(pools)-1].mean < p.mean {
			last := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			w := last.weight + p.weight
			p = pool{last.mean + (p.mean-last.mean)*(p.weight/w), w, last.n + p.n}
		}
		pools = append(pools, p)
	}
	out := make([]float64, 0, len(c))
	for _, p := range pools {
		out = append(out, slices.Repeat([]float64{p.mean}, p.n)...)
	}
	return out
}

// falls reports whether c is non-increasing.
func falls(c []float64) bool {
	return slices.IsSortedFunc(c, func(a, b float64) int { return cmp.Compare(b, a) })
}

// SizesCost returns Σ_k L_k·c[n_{k−1}], n_k = L_1+…+L_k: the expected path loss, in nats, of blocks
// of sizes L over len(c) free positions.
func SizesCost(c []float64, sizes []int) float64 {
	at := 0
	var sum float64
	for _, n := range sizes {
		sum += float64(n) * c[at]
		at += n
	}
	return sum
}

// BestSizes returns the sizes of at most n blocks over len(c) free positions with the least
// expected path loss, and that loss in nats. If c is non-increasing there are min(n, len(c))
// blocks, since another block is never worse; otherwise fewer may be better. Ties are broken in
// favour of larger last blocks. c must not be empty or contain NaN, and n must be at least 1. It
// takes time O(n·d·log d) and 4·n·d bytes of memory.
func BestSizes(c []float64, n int) (sizes []int, cost float64) {
	sizes = partition(c, n)
	return sizes, SizesCost(c, sizes)
}

// partition finds the best sizes by dynamic programming over the number of blocks k and of visible
// positions b: D_k(b) = min_{a<b} D_{k−1}(a) + (b−a)·c[a]. For each a this is a straight line in b,
// so the minimum is the lower envelope of lines, for any c.
func partition(c []float64, n int) []int {
	d := len(c)
	n = min(n, d)
	cost := slices.Repeat([]float64{math.Inf(1)}, d+1) // D_{k−1}
	cost[0] = 0
	from := make([][]int32, n+1)
	best, blocks := math.Inf(1), 0
	exactly := falls(c)
	lower := newEnvelope(d, func(a, b int) float64 { return cost[a] + float64(b-a)*c[a] })
	for k := 1; k <= n; k++ {
		lower.clear()
		from[k] = make([]int32, d+1)
		next := slices.Repeat([]float64{math.Inf(1)}, d+1)
		for b := k; b <= d; b++ {
			lower.add(b - 1)
			a := lower.least(b)
			from[k][b], next[b] = int32(a), lower.line(a, b)
		}
		cost = next
		if blocks == 0 || exactly || cost[d] < best {
			best, blocks = cost[d], k
		}
	}
	sizes := make([]int, blocks)
	for k, b := blocks, d; k > 0; k-- {
		a := int(from[k][b])
		sizes[k-1], b = b-a, a
	}
	return sizes
}

// envelope is the lower envelope of straight lines over 1..n (a Li Chao tree). Each node of a
// binary tree over the abscissas holds the line that is least at its middle.
type envelope struct {
	n int
	// line returns the value of line a at b.
	line func(a, b int) float64
	// node holds lines, or -1.
	node []int32
}

func newEnvelope(n int, line func(a, b int) float64) *envelope {
	return &envelope{n: n, line: line, node: make([]int32, 4*n+4)}
}

func (e *envelope) clear() {
	for i := range e.node {
		e.node[i] = -1
	}
}

// add adds a line. If two are equal at a point, the earlier one stays.
func (e *envelope) add(a int) {
	i, from, to := 1, 1, e.n
	for {
		if e.node[i] < 0 {
			e.node[i] = int32(a)
			return
		}
		mid := (from + to) / 2
		old := int(e.node[i])
		if e.line(a, mid) < e.line(old, mid) {
			e.node[i], a, old = int32(a), old, a
		}
		// Two lines cross once, so the loser at the middle can win on one side only.
		switch {
		case from == to:
			return
		case e.line(a, from) < e.line(old, from):
			i, to = 2*i, mid
		case e.line(a, to) < e.line(old, to):
			i, from = 2*i+1, mid+1
		default:
			return
		}
	}
}

// least returns the line that is least at b.
func (e *envelope) least(b int) int {
	best, value := -1, 0.0
	i, from, to := 1, 1, e.n
	for e.node[i] >= 0 {
		a := int(e.node[i])
		if v := e.line(a, b); best < 0 || v < value || v == value && a < best {
			best, value = a, v
		}
		if from == to {
			break
		}
		mid := (from + to) / 2
		if b <= mid {
			i, to = 2*i, mid
		} else {
			i, from = 2*i+1, mid+1
		}
	}
	return best
}
