package oracle

import (
	"math"
	"slices"
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

// never ends a sweep, when the remaining probability is below e^(−never).
const never = 45

// Grid24 returns the law of argmax(log p_i − log(−log u_i)) with u_i uniform on {1,…,2^24−1}/2^24
// and everything else exact: i wins if −log(u_i)/p_i is the least. Entries of p must be positive.
// Grid24 sweeps the 2^24 values of every category in that order.
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
		first, second := 0, float64(never)
		for i := 1; i < n; i++ {
			if key[i] < key[first] {
				first, second = i, min(second, key[first])
			} else {
				second = min(second, key[i])
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
		// It also wins with all values before another category's next one.
		for more := true; more; more = key[first] < second {
			sums[first].Add(win)
			next[first]--
			key[first] = logs[next[first]] / p[first]
		}
		rest[first] = float64(next[first]) / all
	}
	return valuesOf(sums)
}

// Mdlm32 returns the law of the draw of MDLM's public implementation,
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
	next := make([]int, n)    // the largest k not yet passed, −1 if there is none
	key := make([]float32, n) // its score
	for i := range p {
		p32[i] = float32(p[i])
		next[i] = gridSize - 1
		key[i] = p32[i] / noise[next[i]]
	}
	// The probabilities of a lower score, and of this score.
	below, equal := slices.Repeat([]float64{1}, n), make([]float64, n)
	pass := func(i int) { // passes all values of a category with its current score
		from, score := next[i], key[i]
		for key[i] == score {
			if next[i]--; next[i] >= 0 {
				key[i] = p32[i] / noise[next[i]]
			} else {
				key[i] = -1
			}
		}
		below[i], equal[i] = float64(next[i]+1)/gridSize, float64(from-next[i])/gridSize
	}
	for alive := 1.0; alive >= 1e-20; {
		first, second := 0, float32(-1)
		for i := 1; i < n; i++ {
			if key[i] > key[first] {
				first, second = i, max(second, key[first])
			} else {
				second = max(second, key[i])
			}
		}
		most := key[first]
		if most < 0 {
			break
		}
		if alive = 1; most > second {
			for i, p := range below {
				if i != first {
					alive *= p
				}
			}
			for key[first] > second {
				pass(first)
				sums[first].Add(equal[first] * alive)
			}
			alive *= below[first]
			continue
		}
		for i := range key {
			if equal[i] = 0; key[i] == most {
				pass(i)
			}
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
