package schedule

import (
	"maps"
	"math"
	"slices"
)

// Rounding determines how many of n masked tokens each of N calls commits, n/N on average. Upstream
// programs differ only in this.
type Rounding string

// The roundings.
const (
	// RoundLLaDA commits ⌊n/N⌋, and one more in the first n mod N calls.
	RoundLLaDA Rounding = "llada"
	// RoundDream uses times t_i = 1 − i(1−ε)/N: call i commits ⌊m(1 − t_{i+1}/t_i)⌋ of the m
	// positions still masked, and the last call all.
	RoundDream Rounding = "dream"
	// RoundDLLM commits, of m masked positions, m(α(s)−α(t))/(1−α(t)) rounded half to even, in the step
	// from t = (N−i)/N to s = t − 1/N, with a linear or a cosine α. Calls that would commit nothing are
	// omitted. The probability is computed in float32, as in dLLM, which moves halves either way.
	RoundDLLM Rounding = "dllm"
)

// Quotas returns the number of tokens of each call, for the given numbers of masks and steps. eps
// is the ε of RoundDream. With cosine, α of RoundDLLM is 1 − cos(π(1−t)/2) instead of 1 − t.
func Quotas(r Rounding, masks, steps int, eps float64, cosine bool) []int {
	var out []int
	left := masks
	for i := 0; i < steps && (left > 0 || r != RoundDLLM); i++ {
		var n int
		switch r {
		case RoundDream:
			n = DreamQuota(i, steps, left, eps)
		case RoundDLLM:
			if n = min(int(math.RoundToEven(float64(left)*revealed32(i, steps, cosine))), left); n == 0 {
				continue
			}
		default:
			n = masks / steps
			if i < masks%steps {
				n++
			}
		}
		out = append(out, n)
		left -= n
	}
	return out
}

// DreamQuota returns RoundDream's quota of call i of N with m masked positions. Times are in
// float32 as in Dream; they decide if a share is a whole number in exact arithmetic.
func DreamQuota(i, steps, masked int, eps float64) int {
	if i == steps-1 {
		return masked
	}
	end := float32(eps)
	step := float64((end - 1) / float32(steps))
	at := func(i int) float32 { // torch.linspace, which counts from both ends
		if i < (steps+1)/2 {
			return float32(1 + step*float64(i))
		}
		return float32(float64(end) - step*float64(steps-i))
	}
	return int(float32(masked) * (1 - at(i+1)/at(i)))
}

// revealed32 returns the probability that a masked position is revealed in step i of N.
func revealed32(i, steps int, cosine bool) float64 {
	masked := func(t float64) float32 {
		x := 1 - float32(t)
		if cosine {
			x = 1 - float32(math.Cos(float64(float32(math.Pi/2)*x)))
		}
		return 1 - x
	}
	t, s := float64(steps-i)/float64(steps), float64(steps-i-1)/float64(steps)
	return 1 - float64(masked(s)/masked(t))
}

// DrawnQuotas returns random quotas: each call's is Binomial(m, P), where P is the unrounded share
// of RoundDLLM. The uniform on (0,1) of each masked position determines its step. Calls that would
// commit nothing are omitted.
func DrawnQuotas(uniforms []float64, steps int, cosine bool) []int {
	counts := make(map[int]int)
	for _, u := range uniforms {
		// The masked fraction falls to u in the step: it is (N−k)/N, or cos(πk/2N).
		at := 1 - u
		if cosine {
			at = math.Acos(u) / (math.Pi / 2)
		}
		counts[min(int(at*float64(steps)), steps-1)]++
	}
	var out []int
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, counts[k])
	}
	return out
}
