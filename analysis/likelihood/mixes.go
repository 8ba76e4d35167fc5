package likelihood

import (
	"math"
	"runtime"
	"sync"
)

// mixes holds, for every pair of a set of visible positions and the set that the call
// before had, a part of it, the probability of the text's token under the mixture
//
//	max((1+w)·p − w·p′, κ·p)/Z,  Z = Σ_a max((1+w)·p_a − w·p′_a, κ·p_a),
//
// p the row on the set and p′ that on the set before ([samplers.Mix]).
type mixes struct {
	// of[i][ternary[i][A]+ternary[i][before]] is that of position i, divided by the
	// position's tilt.
	of      [][]float64
	ternary [][]int32
}

func (m *mixes) at(before, a, i int) float64 { return m.of[i][m.ternary[i][a]+m.ternary[i][before]] }

// newTernary numbers pairs of sets: with digits of base 3, 0 outside A, 1 in A alone and 2
// in both, a pair over the d−1 positions beside i has the number t(A)+t(before).
func newTernary(d int) [][]int32 {
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

// mixed is the mixture's probability of a token with probabilities p and before, from
// the excess as a probability.
func mixed(p, before, w, floor, excess float64) float64 {
	return max(p+w*(p-before), floor*p) / (1 + w*excess)
}

// tile is how many words of a row are worked on at a time: those of all sets, 2^(d−1) of them,
// stay in a processor's caches for d up to 12.
const tile = 128

// newMixes works out all pairs, or with first those whose set before is empty. before
// is the table of the call before and now that of this one, the same for a network
// without time; then a pair of equal sets has equal rows and so is plain. Positions are shared
// by goroutines, and each is worked out by itself.
func newMixes(before, now *RowTable, tilt []float64, w, floor float64, first bool) *mixes {
	d := now.D
	m := &mixes{of: make([][]float64, d), ternary: newTernary(d)}
	muBefore, mu := before.tilted(tilt), now.tilted(tilt)
	one := func(i int) {
		sums := make([]int64, int(math.Pow(3, float64(d-1))+0.5))
		if first {
			x := make([]uint64, now.words())
			for a := range 1 << d {
				if a>>i&1 == 0 && (a != 0 || before != now) {
					now.threshold(x, now.row(a, i), w, floor)
					sums[m.ternary[i][a]] = now.excess(before.row(0, i), x)
				}
			}
		} else {
			m.allExcesses(sums, before, now, i, w, floor)
		}
		of := make([]float64, len(sums))
		for a := range 1 << d {
			if a>>i&1 == 1 {
				continue
			}
			for b := a; ; b = (b - 1) & a {
				if first {
					b = 0
				}
				at := m.ternary[i][a] + m.ternary[i][b]
				of[at] = mixed(mu[a*d+i], muBefore[b*d+i], w, floor, float64(sums[at])/now.one())
				if b == a && before == now {
					of[at] = mu[a*d+i]
				}
				if b == 0 {
					break
				}
			}
		}
		m.of[i] = of
	}
	workers := min(runtime.GOMAXPROCS(0), d)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := worker; i < d; i += workers {
				one(i)
			}
		})
	}
	wg.Wait()
	return m
}

// allExcesses adds up the excesses of all pairs of one position, tile by tile.
func (m *mixes) allExcesses(sums []int64, before, now *RowTable, i int, w, floor float64) {
	half, words := 1<<(now.D-1), now.words()
	ternary := make([]int32, half)
	for a := range 1 << now.D {
		if a>>i&1 == 0 {
			ternary[without(a, i)] = m.ternary[i][a]
		}
	}
	previous, x := make([]uint64, half*tile), make([]uint64, half*tile)
	for from := 0; from < words; from += tile {
		n := min(tile, words-from)
		for a := range half {
			at := (i*half+a)*words + from
			copy(previous[a*n:(a+1)*n], before.rows[at:at+n])
			now.threshold(x[a*n:(a+1)*n], now.rows[at:at+n], w, floor)
		}
		for a := range half {
			own := x[a*n : (a+1)*n]
			for b := a; ; b = (b - 1) & a {
				if b != a || before != now {
					sums[ternary[a]+ternary[b]] += now.excess(previous[b*n:(b+1)*n], own)
				}
				if b == 0 {
					break
				}
			}
		}
	}
}
