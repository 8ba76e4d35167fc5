package spread

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Best is an ordered partition of free positions with its predicted error.
type Best struct {
	// Groups are ranks among the free positions.
	Groups [][]int
	// Nats is Σ_k Σ_{pairs of G_k} I_{λ_k}(|i−j|), where λ_k is the masked fraction at which group
	// k is queried: the predicted KL of a sequence to the same order one position at a time.
	Nats float64
}

// Choose finds groups with little predicted error for at most calls calls: the least of all for up to 12
// positions, and otherwise the best cuts of several orders, improved by swaps and moves. It is a
// function of its arguments. In a dense stretch distances are cyclic, so that the error does not
// depend on a cyclic shift. A cut of an order takes time of about d·(4d/calls)², the swaps of an
// improvement up to [maxWork] lookups, a shift d/calls squared.
func Choose(in *Interactions, free []int, calls int) Best {
	d := len(free)
	if d == 0 {
		return Best{}
	}
	c := newCosts(in, free)
	calls = min(calls, d)
	if d <= exhaustive {
		return c.least(calls)
	}
	best := Best{Nats: math.Inf(1)}
	for _, order := range orders(d, calls) {
		got := c.cut(order, calls)
		if d <= thorough {
			got = c.improve(got)
		}
		if got.Nats < best.Nats {
			best = got
		}
	}
	return c.improve(best)
}

// thorough is the number of free positions up to which the cuts of all orders are improved before
// the best is.
const thorough = 256

// Predict returns the predicted error, in nats, of groups of ranks among free positions.
func Predict(in *Interactions, free []int, groups [][]int) float64 {
	return newCosts(in, free).of(groups)
}

// orders returns the orders to cut: bisection, and combs with bisected offsets.
func orders(d, calls int) [][]int {
	out := [][]int{vanDerCorput(d)}
	for n := calls; n >= max(calls/4, 1); n /= 2 {
		var comb []int
		for _, o := range vanDerCorput(n) {
			for r := o; r < d; r += n {
				comb = append(comb, r)
			}
		}
		out = append(out, comb)
	}
	return out
}

// costs holds the interactions of pairs of free positions.
type costs struct {
	free   []int
	cyclic bool
	// nats [number of visible positions][distance] is filled in on demand.
	nats [][]float64
	// byLambda [λ of the profile][distance] is also filled in on demand.
	byLambda [][]float64
	in       *Interactions
}

func newCosts(in *Interactions, free []int) *costs {
	return &costs{free: free, cyclic: dense(free), nats: make([][]float64, len(free)), byLambda: make([][]float64, len(in.Lambda)), in: in}
}

// at returns the interactions by distance with the given number of visible positions.
func (c *costs) at(visible int) []float64 {
	if c.nats[visible] == nil {
		d := len(c.free)
		i, w := between(c.in.Lambda, float64(d-visible)/float64(d))
		low, high := c.along(i), c.along(min(i+1, len(c.byLambda)-1))
		row := make([]float64, len(low))
		for delta := range row {
			row[delta] = low[delta]*(1-w) + high[delta]*w
		}
		c.nats[visible] = row
	}
	return c.nats[visible]
}

// along returns [Interactions.At] by distance at the i-th λ of the profile.
func (c *costs) along(i int) []float64 {
	if c.byLambda[i] == nil {
		c.byLambda[i] = make([]float64, c.free[len(c.free)-1]-c.free[0]+1)
		for delta := 1; delta < len(c.byLambda[i]); delta++ {
			c.byLambda[i][delta] = along(c.in.Distance, c.in.Nats[i], float64(delta))
		}
	}
	return c.byLambda[i]
}

// distance returns the distance of two ranks.
func (c *costs) distance(i, j int) int {
	if delta := c.free[max(i, j)] - c.free[min(i, j)]; !c.cyclic {
		return delta
	} else {
		return min(delta, len(c.free)-delta)
	}
}

// with returns the sum of the interactions of a rank with a group, without the member but.
func (c *costs) with(nats []float64, rank int, group []int, but int) (sum float64) {
	for _, r := range group {
		if r != but {
			sum += nats[c.distance(rank, r)]
		}
	}
	return sum
}

// of returns the predicted error of groups.
func (c *costs) of(groups [][]int) (sum float64) {
	visible := 0
	for _, g := range groups {
		sum += c.group(visible, g)
		visible += len(g)
	}
	return sum
}

// cut cuts an order into groups with the least error, by dynamic programming over the number of
// groups and of visible positions. A group has at most four times the mean size.
func (c *costs) cut(order []int, calls int) Best {
	d := len(order)
	most := min(d, 4*(d+calls-1)/calls)
	// errors[a][n−1] is the error of order[a:a+n].
	errors := make([][]float64, d)
	for a := range errors {
		nats, sum := c.at(a), 0.0
		for b := a; b < min(a+most, d); b++ {
			sum += c.with(nats, order[b], order[a:b], -1)
			errors[a] = append(errors[a], sum)
		}
	}
	cost := slices.Repeat([]float64{math.Inf(1)}, d+1)
	cost[0] = 0
	from := make([][]int, calls+1)
	for k := 1; k <= calls; k++ {
		next := slices.Repeat([]float64{math.Inf(1)}, d+1)
		from[k] = make([]int, d+1)
		for a := range d {
			for n, e := range errors[a] {
				if b := a + n + 1; cost[a]+e < next[b] {
					next[b], from[k][b] = cost[a]+e, a
				}
			}
		}
		cost = next
	}
	groups := make([][]int, calls)
	for k, b := calls, d; k > 0; k-- {
		a := from[k][b]
		groups[k-1], b = slices.Clone(order[a:b]), a
	}
	return Best{groups, cost[d]}
}

// exhaustive is the number of free positions up to which all groups are compared.
const exhaustive = 12

// least returns groups of the least error, by dynamic programming over the sets of revealed positions:
// 3^d steps for each call.
func (c *costs) least(calls int) Best {
	d := len(c.free)
	all := 1<<d - 1
	// of[n][g] is the error of the group with the bits of g if n positions are visible.
	of := make([][]float64, d)
	for n := range of {
		of[n] = make([]float64, all+1)
		for g := 1; g <= all; g++ {
			low := bits.TrailingZeros(uint(g))
			of[n][g] = of[n][g&(g-1)]
			for rest := g & (g - 1); rest != 0; rest &= rest - 1 {
				of[n][g] += c.at(n)[c.distance(low, bits.TrailingZeros(uint(rest)))]
			}
		}
	}
	cost, from := make([]float64, all+1), make([][]int, calls)
	for a := range cost[1:] {
		cost[a+1] = math.Inf(1)
	}
	for k := range calls {
		next := slices.Repeat([]float64{math.Inf(1)}, all+1)
		from[k] = make([]int, all+1)
		for a, before := range cost {
			n := bits.OnesCount(uint(a))
			for left, g := all&^a, all&^a; g != 0 && !math.IsInf(before, 1); g = (g - 1) & left {
				if e := before + of[n][g]; e < next[a|g] {
					next[a|g], from[k][a|g] = e, g
				}
			}
		}
		cost = next
	}
	best := Best{make([][]int, calls), cost[all]}
	for k, a := calls-1, all; k >= 0; k-- {
		for g := from[k][a]; g != 0; g &= g - 1 {
			best.Groups[k] = append(best.Groups[k], bits.TrailingZeros(uint(g)))
		}
		a &^= from[k][a]
	}
	return best
}

// maxWork bounds the distances that swaps look up, some tenths of a second.
const maxWork = 1 << 26

// improve swaps positions of two groups, moves positions to a neighbouring group and swaps neighbouring
// groups, until none of these reduces the error.
func (c *costs) improve(b Best) Best {
	if len(b.Groups) < 2 || len(b.Groups) == len(c.free) {
		return b
	}
	work := 0
	for gained := true; gained && work < maxWork; {
		gained = false
		visible := 0
		for k := range b.Groups {
			others := visible + len(b.Groups[k])
			for l := k + 1; l < len(b.Groups) && work < maxWork; l++ {
				work += len(b.Groups[k]) * len(b.Groups[l]) * (len(b.Groups[k]) + len(b.Groups[l]))
				gained = c.swap(b.Groups[k], b.Groups[l], visible, others) || gained
				others += len(b.Groups[l])
			}
			if k+1 < len(b.Groups) {
				gained = c.shift(&b.Groups[k], &b.Groups[k+1], visible) || gained
			}
			visible += len(b.Groups[k])
		}
	}
	b.Nats = c.of(b.Groups)
	return b
}

// gain reports whether an error is below another by more than rounding.
func gain(after, before float64) bool { return after < before*(1-1e-12) }

// swap swaps positions of two groups while that reduces the error. m and n are visible before them.
func (c *costs) swap(g, h []int, m, n int) (gained bool) {
	first, second := c.at(m), c.at(n)
	for i, x := range g {
		for j, y := range h {
			before := c.with(first, x, g, x) + c.with(second, y, h, y)
			if gain(c.with(first, y, g, x)+c.with(second, x, h, y), before) {
				g[i], h[j], x = y, x, y
				gained = true
			}
		}
	}
	return gained
}

// shift moves positions between two neighbouring groups, or swaps the groups, while that reduces the
// error. visible is the number of visible positions before them.
func (c *costs) shift(g, h *[]int, visible int) (gained bool) {
	now := c.group(visible, *g) + c.group(visible+len(*g), *h)
	// move moves a position from one group to the other, if that leaves one in the former. first and
	// second are the numbers of visible positions before them, after the move.
	move := func(from, to *[]int, first, second int) bool {
		if len(*from) < 2 {
			return false
		}
		rest, nats, others := c.group(first, *from)+c.group(second, *to), c.at(first), c.at(second)
		for i, r := range *from {
			if after := rest - c.with(nats, r, *from, r) + c.with(others, r, *to, -1); gain(after, now) {
				*from, *to, now = slices.Delete(*from, i, i+1), append(*to, r), after
				return true
			}
		}
		return false
	}
	for again := true; again; gained = gained || again {
		again = false
		if after := c.group(visible, *h) + c.group(visible+len(*h), *g); gain(after, now) {
			*g, *h, now, again = *h, *g, after, true
		}
		again = again || move(g, h, visible, visible+len(*g)-1) || move(h, g, visible+len(*g)+1, visible)
	}
	return gained
}

// group returns the error of a group.
func (c *costs) group(visible int, g []int) (sum float64) {
	for i, r := range g {
		sum += c.with(c.at(visible), r, g[:i], -1)
	}
	return sum
}

// vanDerCorput returns 0..d−1 in the order of the radical inverses of 0, 1, 2, … in base 2: 0, then
// d/2, then d/4 and 3d/4, and so on.
func vanDerCorput(d int) []int {
	order := make([]int, 0, d)
	width := bits.Len(uint(cmp.Or(d, 1) - 1))
	taken := make([]bool, d)
	for k := range 1 << width {
		inverse := int(bits.Reverse64(uint64(k)) >> (64 - width))
		if r := inverse * d >> width; r < d && !taken[r] {
			taken[r] = true
			order = append(order, r)
		}
	}
	return order
}
