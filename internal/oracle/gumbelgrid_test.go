package oracle

import (
	"math"
	"sync"

	"mdmgen/analysis/laws"
)

// gridSize is the number of values of a 24-bit uniform.
const gridSize = 1 << 24

// logTable holds −log(k/2^24) for k = 1..2^24−1: 128 MiB.
var logTable = sync.OnceValue(func() []float64 {
	out := make([]float64, gridSize)
	out[0] = math.Inf(1)
	for k := 1; k < gridSize; k++ {
		out[k] = -math.Log(float64(k) / gridSize)
	}
	return out
})

// noiseTable holds 1e-10 − log(k/2^24 + 1e-10) in float32, for k = 0..2^24−1: 64 MiB.
var noiseTable = sync.OnceValue(func() []float32 {
	const tiny = float32(1e-10)
	out := make([]float32, gridSize)
	for k := range out {
		shifted := float32(k)/gridSize + tiny
		out[k] = tiny - float32(math.Log(float64(shifted)))
	}
	return out
})

// never ends a sweep: what is left to win has probability below e^(−never).
const never = 45

// Grid24 is the law of argmax(log p_i − log(−log u_i)) with u_i uniform on {1,…,2^24−1}/2^24 and
// everything else exact: i wins when −log(u_i)/p_i is the least. Entries of p must
// be positive. It sweeps the 2^24 values of every category in that order.
func Grid24(p []float64) []float64 {
	logs := logTable()
	n := len(p)
	sums := make([]laws.Sum, n)
	next := make([]int, n)     // the largest k of each category not yet passed
	key := make([]float64, n)  // its −log(u)/p
	rest := make([]float64, n) // P(u_i ≤ k/2^24)
	const all = gridSize - 1
	for i := range p {
		next[i], rest[i] = all, 1
		key[i] = logs[all] / p[i]
	}
	for {
		first := 0
		for i := 1; i < n; i++ {
			if key[i] < key[first] {
				first = i
			}
		}
		if key[first] > never {
			break
		}
		win := 1. / all
		for i, r := range rest {
			if i != first {
				win *= r
			}
		}
		sums[first].Add(win)
		next[first]--
		rest[first] = float64(next[first]) / all
		key[first] = logs[next[first]] / p[first]
	}
	return valuesOf(sums)
}

// Mdlm32 is the law of the draw of MDLM's public implementation,
//
//	argmax p_i/(1e-10 − log(u_i + 1e-10)),
//
// in float32 with u_i uniform on {0,…,2^24−1}/2^24 and the first index taken on ties.
// Entries of p must be positive.
func Mdlm32(p []float64) []float64 {
	noise := noiseTable()
	n := len(p)
	p32 := make([]float32, n)
	sums := make([]laws.Sum, n)
	next := make([]int, n)    // the largest k not yet passed, −1 when there is none
	key := make([]float32, n) // its score
	for i := range p {
		p32[i] = float32(p[i])
		next[i] = gridSize - 1
		key[i] = p32[i] / noise[next[i]]
	}
	below, equal := make([]float64, n), make([]float64, n)
	for {
		most := key[0]
		for _, k := range key[1:] {
			most = max(most, k)
		}
		// Categories that have this score pass all their values of it.
		alive := 1.0
		for i := range key {
			from := next[i]
			for key[i] == most && next[i] >= 0 {
				if next[i]--; next[i] >= 0 {
					key[i] = p32[i] / noise[next[i]]
				} else {
					key[i] = -1
				}
			}
			equal[i] = float64(from-next[i]) / gridSize
			below[i] = float64(next[i]+1) / gridSize
			alive *= below[i] + equal[i]
		}
		for i := range key {
			if equal[i] == 0 {
				continue
			}
			win := equal[i]
			for j := range key {
				switch {
				case j < i:
					win *= below[j]
				case j > i:
					win *= below[j] + equal[j]
				}
			}
			sums[i].Add(win)
		}
		if most < 0 || alive < 1e-20 {
			break
		}
	}
	return valuesOf(sums)
}

func valuesOf(sums []laws.Sum) []float64 {
	out := make([]float64, len(sums))
	for i, s := range sums {
		out[i] = s.Value()
	}
	return out
}
