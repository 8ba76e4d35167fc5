package likelihood

import (
	"math"
	"math/bits"
	"slices"
)

// Shape is what a sampler with blocks of fixed sizes draws: positions in uniform order,
// cut into blocks.
type Shape struct {
	// Sizes of the blocks, which sum to d.
	Sizes []int
	// Weights of each block, one for each of its positions in their order, nil where its
	// fill is plain; see [samplers.Block].
	Weights [][]float64
	Floor   float64
}

// before is the state that the next block looks back at: the set before the last
// block, with the logarithm of the probability of both.
type before struct {
	set int
	log float64
}

// Blocks returns −log P of extrapolated and paired FHS, exactly, by a recursion over
// pairs of the set before a block and that before the last. A block of n out of m
// positions has the probability
//
//	1/C(m,n) · 1/n! · Σ_orders Π_r m^{l_r}(x_{l_r}), r the place in the block,
//
// m the mixture with weight w_r; the sum over orders is a recursion over parts of the
// block.
func (t *RowTable) Blocks(shape Shape) float64 {
	full := 1<<t.D - 1
	states := make([][]before, full+1)
	states[0] = []before{{}}
	visible := 0
	for n, size := range shape.Sizes {
		next := make([][]before, full+1)
		choose := logChoose(t.D-visible, size)
		for a, from := range states {
			if from == nil {
				continue
			}
			var logs []float64 // by the part of what is masked that the block reveals
			if w := shape.weights(n); w == nil {
				logs = t.plainBlock(a, size, total(from))
			} else {
				logs = t.mixedBlock(a, size, from, w, shape.Floor)
			}
			for part, x := range logs {
				if bits.OnesCount(uint(part)) == size {
					b := a | scatter(part, full&^a)
					next[b] = append(next[b], before{a, x - choose})
				}
			}
		}
		visible += size
		states = next
	}
	return -total(states[full])
}

// weights returns those of block n, nil where all are 0.
func (s Shape) weights(n int) []float64 {
	for _, w := range s.Weights[n] {
		if w != 0 {
			return s.Weights[n]
		}
	}
	return nil
}

func total(of []before) float64 {
	logs := make([]float64, len(of))
	for i, b := range of {
		logs[i] = b.log
	}
	return logSum(logs)
}

// scatter puts the bits of part on the places where mask has its own, lowest first.
func scatter(part, mask int) (set int) {
	for ; part != 0; part >>= 1 {
		low := mask & -mask
		if part&1 == 1 {
			set |= low
		}
		mask &^= low
	}
	return set
}

// outside lists the positions that are not in a set.
func (t *Table) outside(a int) (out []int) {
	for i := range t.D {
		if a>>i&1 == 0 {
			out = append(out, i)
		}
	}
	return out
}

// plainBlock returns start plus log Π μ of every part of the masked positions.
func (t *Table) plainBlock(a, size int, start float64) []float64 {
	out := t.outside(a)
	logs := make([]float64, 1<<len(out))
	logs[0] = start
	for part := 1; part < len(logs); part++ {
		low := bits.TrailingZeros(uint(part))
		logs[part] = logs[part&(part-1)] + t.LogMu[a*t.D+out[low]]
	}
	return logs
}

// mixedBlock is plainBlock with mixtures, for parts of the block's size.
func (t *RowTable) mixedBlock(a, size int, from []before, weights []float64, floor float64) []float64 {
	out := t.outside(a)
	m := len(out)
	// thresholds[r·m+j] is that of rank r and position out[j]; equal weights share one.
	thresholds := make([][]uint64, size*m)
	for r, w := range weights {
		for j, i := range out {
			if same := slices.Index(weights[:r], w); same >= 0 {
				thresholds[r*m+j] = thresholds[same*m+j]
			} else if w != 0 {
				x := make([]uint64, t.words())
				t.threshold(x, t.row(a, i), w, floor)
				thresholds[r*m+j] = x
			}
		}
	}
	sums := make([]float64, 1<<m)
	for s := range sums {
		sums[s] = math.Inf(-1)
	}
	values, means, scale := make([]float64, size*m), make([]float64, 1<<m), make([]float64, m)
	for _, b := range from {
		for j, i := range out {
			// Numbers are relative to the greater of the position's two probabilities.
			own, other := t.LogMu[a*t.D+i], t.LogMu[b.set*t.D+i]
			scale[j] = max(own, other)
			if math.IsInf(scale[j], -1) {
				scale[j] = 0
			}
			p, q := math.Exp(own-scale[j]), math.Exp(other-scale[j])
			for r, w := range weights {
				same := slices.Index(weights[:r], w)
				switch {
				case same >= 0:
					values[r*m+j] = values[same*m+j]
				case w == 0:
					values[r*m+j] = p
				default:
					values[r*m+j] = mixed(p, q, w, floor, float64(t.excess(t.row(b.set, i), thresholds[r*m+j]))/t.one())
				}
			}
		}
		// means[part] is the mean over the orders of a part that fills the first places.
		means[0] = 1
		for part := 1; part < len(means); part++ {
			n := bits.OnesCount(uint(part))
			if n > size {
				continue
			}
			var sum, log float64
			for rest := part; rest != 0; rest &= rest - 1 {
				j := bits.TrailingZeros(uint(rest))
				sum += means[part&^(1<<j)] * values[(n-1)*m+j]
				log += scale[j]
			}
			means[part] = sum / float64(n)
			if n == size {
				sums[part] = logAdd(sums[part], b.log+log+math.Log(means[part]))
			}
		}
	}
	return sums
}
