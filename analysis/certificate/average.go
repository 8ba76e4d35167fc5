package certificate

import (
	"math"

	"mdmgen/samplers/catalog"
)

// average computes a sampler's probability of blocks on a grid, given the order: step k reveals a
// position that is still masked with probability jump[k].
type average struct {
	d    int
	jump []float64
	// left is the probability that a position is left masked; denoise reports whether a last call
	// fills such positions.
	left    float64
	denoise bool
	// one is set if each call reveals one position, whatever the step.
	one bool
	// longest is the greatest length of a step's block that is counted, last that of the last
	// call's. The blocks not counted increase bounds on TV by less than omitted.
	longest, last int
	logChoose     func(n, k int) float64
}

// omitted bounds the probability of a block longer than the counted ones.
const omitted = 1e-6

// newAverage returns nil for a sampler whose blocks are not random or would be longer than longest.
func newAverage(s *catalog.Sampler, d, longest int) *average {
	law, ok := s.Grid()
	if !ok {
		return nil
	}
	a := &average{d: d, jump: law.Jump, left: law.Left(), denoise: law.Denoise, one: law.OneByOne, longest: 1}
	logFactorial := make([]float64, d+1)
	for n := 1; n <= d; n++ {
		logFactorial[n] = logFactorial[n-1] + math.Log(float64(n))
	}
	a.logChoose = func(n, k int) float64 { return logFactorial[n] - logFactorial[k] - logFactorial[n-k] }
	if !a.one {
		a.longest = a.enough(law.Reveal, longest)
	}
	if a.denoise {
		a.last = a.enough([]float64{a.left}, longest)
	}
	if max(a.longest, a.last) > longest {
		return nil
	}
	return a
}

// enough returns the least n for which Σ_k C(d,n+1)·w_k^(n+1) is at most omitted, or a number above
// most. The sum bounds the probability that a step that reveals with probability w_k reveals more
// than n of d positions.
func (a *average) enough(reveal []float64, most int) int {
	for n := 0; n < a.d; n++ {
		if n > most {
			return n
		}
		var sum float64
		for _, w := range reveal {
			sum += math.Exp(a.logChoose(a.d, n+1) + float64(n+1)*math.Log(w))
		}
		if sum <= omitted {
			return n
		}
	}
	return a.d
}

// reach returns the rank up to which rows are needed on the canvas with from positions revealed.
func (a *average) reach(from int) int {
	if from >= a.d-a.last {
		return a.d
	}
	return min(from+a.longest, a.d)
}

// log returns log P_N(x|π) − log P_FHS(x|π). gain returns by how much one call raises the
// log-probability of a block of tokens.
func (a *average) log(gain func(from, to int) float64) float64 {
	states, scale := make([]float64, a.d+1), 0.0
	if a.one {
		for n := 0; n <= a.last; n++ {
			states[a.d-n] = math.Exp(a.logChoose(a.d, n)) * math.Pow(a.left, float64(n)) * math.Pow(1-a.left, float64(a.d-n))
		}
	} else {
		scale = a.steps(states, gain)
	}
	sum := states[a.d]
	if a.denoise {
		for n := 1; n <= a.last; n++ {
			sum += states[a.d-n] * math.Exp(gain(a.d-n, a.d))
		}
	}
	return math.Log(sum) + scale
}

// negligible is the fraction of the greatest state below which a state counts as 0.
const negligible = 1e-200

// steps applies the steps of the grid to states and returns the log of the factor by which to
// multiply them. states[j] is the probability that j positions are revealed, times the gains of the
// blocks. Negligible states are set to 0, which does not decrease bounds.
func (a *average) steps(states []float64, gain func(from, to int) float64) (scale float64) {
	d, width := a.d, a.longest+1
	// more[to·width+n] is for a step that reveals the n positions before to.
	more := make([]float64, (d+1)*width)
	for to := range states {
		for n := 0; n <= min(a.longest, to); n++ {
			more[to*width+n] = math.Exp(a.logChoose(d-to+n, n) + gain(to-n, to))
		}
	}
	states[0] = 1
	reveal := make([]float64, width) // p^n
	for _, p := range a.jump {
		reveal[0] = 1
		for n := 1; n < width; n++ {
			reveal[n] = reveal[n-1] * p
		}
		stay, top := 1.0, 0.0 // (1−p)^(d−to)
		for to := d; to >= 0; to-- {
			var sum float64 // states below to are still those of the previous step
			row := more[to*width : (to+1)*width]
			for n := 0; n <= min(a.longest, to); n++ {
				sum += states[to-n] * row[n] * reveal[n]
			}
			states[to] = sum * stay
			top = max(top, states[to])
			stay *= 1 - p
		}
		for j, x := range states {
			if x < top*negligible {
				states[j] = 0
			}
		}
		if top > 0 && top < 1e-50 {
			for j := range states {
				states[j] /= top
			}
			scale += math.Log(top)
		}
	}
	return scale
}
