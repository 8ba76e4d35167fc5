package likelihood

import (
	"math"
	"math/bits"

	"mdmgen/internal/parallel"
)

// mixes holds the log-probability of the text's token under a mixture, for pairs of a set A of
// visible positions and the subset that was visible to the call before:
//
//	max((1+w)·p − w·p′, κ·p)/Z,  Z = Σ_a max((1+w)·p_a − w·p′_a, κ·p_a),
//
// p is the row given A and p′ the row given the earlier set ([draw.Mix]).
type mixes struct {
	// log[i][pair[i][A]+pair[i][before]] is the log-probability at position i.
	log  [][]float64
	pair [][]int32
}

func (m *mixes) at(before, a, i int) float64 { return m.log[i][m.pair[i][a]+m.pair[i][before]] }

// newPairs numbers pairs of sets. With base-3 digits of 0 outside A, 1 in A alone and 2 in both, a
// pair over the d−1 positions other than i has the number t(A)+t(before).
func newPairs(d int) [][]int32 {
	out := make([][]int32, d)
	for i := range out {
		out[i] = make([]int32, 1<<d)
		for set := range out[i] {
			digit := int32(1)
			for j := range d {
				if j == i {
					continue
				}
				if set>>j&1 == 1 {
					out[i][set] += digit
				}
				digit *= 3
			}
		}
	}
	return out
}

// newMixes computes the pairs of sets whose sizes are wanted. before is the table of the earlier
// call and now that of this call. They are the same table for a network without time; a pair of
// equal sets then has equal rows and is a plain fill. Each goroutine computes one position.
func newMixes(before, now *rowTable, w, floor float64, wanted func(before, now int) bool) *mixes {
	d := now.D
	m := &mixes{log: make([][]float64, d), pair: newPairs(d)}
	parallel.For(d, func(i int) { m.position(i, before, now, w, floor, wanted) })
	return m
}

// tile is the number of columns processed at a time: those of all sets fit in a processor's caches.
const tile = 256

// position computes the pairs of position i. Since rows sum to 1,
//
//	Z = 1 + w·Σ_a max(0, p′_a − (1+w−κ)/w·p_a).
func (m *mixes) position(i int, before, now *rowTable, w, floor float64, wanted func(before, now int) bool) {
	pair, ratio := m.pair[i], (1+w-floor)/w
	log := make([]float64, int(math.Pow(3, float64(now.D-1))+0.5))
	// each calls do for the wanted pairs.
	each := func(do func(a, b, at int)) {
		for a := range 1 << now.D {
			for b := a; a>>i&1 == 0; b = (b - 1) & a {
				if wanted(bits.OnesCount(uint(b)), bits.OnesCount(uint(a))) {
					do(a, b, int(pair[a]+pair[b]))
				}
				if b == 0 {
					break
				}
			}
		}
	}
	for from := 0; from < now.columns; from += tile {
		to := min(from+tile, now.columns)
		each(func(a, b, at int) { log[at] += excess(before.row(b, i)[from:to], now.row(a, i)[from:to], ratio) })
	}
	each(func(a, b, at int) {
		p := now.LogMu[a*now.D+i]
		if log[at] = logMixed(p, before.LogMu[b*now.D+i], w, floor) - math.Log1p(w*log[at]); b == a && before == now {
			log[at] = p
		}
	})
	m.log[i] = log
}

// excess returns Σ_a max(0, before_a − ratio·now_a). It sums (x + |x|)/2, which needs no branch, in
// two sums that do not wait for each other.
func excess(before, now []float64, ratio float64) float64 {
	var even, odd float64
	before = before[:len(now)]
	k := 1
	for ; k < len(now); k += 2 {
		x, y := before[k-1]-ratio*now[k-1], before[k]-ratio*now[k]
		even, odd = even+(x+math.Abs(x)), odd+(y+math.Abs(y))
	}
	if k == len(now) {
		x := before[k-1] - ratio*now[k-1]
		even += x + math.Abs(x)
	}
	return (even + odd) / 2
}

// logMixed returns log max(p + w·(p−p′), κ·p) from the logarithms of p and p′, which may be too
// small to represent.
func logMixed(p, before, w, floor float64) float64 {
	top := max(p, before)
	if math.IsInf(top, -1) {
		return top
	}
	x, y := math.Exp(p-top), math.Exp(before-top)
	return top + math.Log(max(x+w*(x-y), floor*x))
}
