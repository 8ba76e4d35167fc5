package schedule

import (
	"maps"
	"math"
	"slices"
)

// Rounding is how many tokens each of N calls commits of n masked ones, n/N on average.
// Upstream programs differ in that only.
type Rounding string

// The roundings.
const (
	// RoundLLaDA gives ⌊n/N⌋, and one more in the first n mod N calls.
	RoundLLaDA Rounding = "llada"
	// RoundDream has times t_i = 1 − i(1−ε)/N: call i commits ⌊m(1 − t_{i+1}/t_i)⌋ of the m
	// that are still masked, and the last all.
	RoundDream Rounding = "dream"
	// RoundDLLM commits of m masked ones m(α(s)−α(t))/(1−α(t)) rounded, halves to even, in the
	// step from t = (N−i)/N to s = t − 1/N, with a linear or a cosine α; calls that would
	// commit nothing are left out. The probability is worked out in float32, as dLLM does
	// it: that moves halves either way.
	RoundDLLM Rounding = "dllm"
)

// Quotas are the tokens of each call for so many masks in so many steps; eps is ε of
// RoundDream, cosine is whether α of RoundDLLM is 1 − cos(π(1−t)/2), and not 1 − t.
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

// DreamQuota is RoundDream's quota of call i of N with m masked positions, with times in float32
// as Dream's are: where a share is whole in real numbers, they decide.
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

// revealed32 is the probability with which a masked position is revealed in step i of N.
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

// DrawnQuotas are quotas of which each call's is Binomial(m, P), P the unrounded share of
// RoundDLLM: each masked position has its step, which its uniform on (0,1) gives. Calls that
// would commit nothing are left out.
func DrawnQuotas(uniforms []float64, steps int, cosine bool) []int {
	counts := make(map[int]int)
	for _, u := range uniforms {
		// The masked fraction falls to u in the step: (N−k)/N, or cos(πk/2N).
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
