package certificate

import (
	"math"

	"mdmgen/samplers"
)

// average is the law of the blocks of a sampler on a grid, given the order: a position
// that is masked is revealed in step k with the probability jump[k].
type average struct {
	d    int
	jump []float64
	// left is the probability of being left masked, denoise says that a last call fills
	// what is.
	left    float64
	denoise bool
	// one says that a call reveals one position, whatever the step.
	one bool
	// longest is the longest block of a step that is counted, last that of the last call.
	// What is not counted makes bounds larger by less than omitted in TV.
	longest, last int
	logChoose     func(n, k int) float64
}

// omitted is how probable a block is, at most, that is longer than those that are counted.
const omitted = 1e-6

// newAverage is nil for a sampler whose blocks are not random, whose fill looks back, or
// whose blocks would be longer than longest.
func newAverage(s *samplers.Sampler, d, longest int) *average {
	law, _ := s.Law()
	if law.Steps == nil || law.LookBack {
		return nil
	}
	a := &average{d: d, jump: law.Steps.Jump, left: law.Steps.Left(), denoise: s.Denoises(), one: law.OneByOne, longest: 1}
	logFactorial := make([]float64, d+1)
	for n := 1; n <= d; n++ {
		logFactorial[n] = logFactorial[n-1] + math.Log(float64(n))
	}
	a.logChoose = func(n, k int) float64 { return logFactorial[n] - logFactorial[k] - logFactorial[n-k] }
	if !a.one {
		a.longest = a.enough(law.Steps.Reveal, longest)
	}
	if a.denoise {
		a.last = a.enough([]float64{a.left}, longest)
	}
	if max(a.longest, a.last) > longest {
		return nil
	}
	return a
}

// enough is the least n, or more than most, for which Σ_k C(d,n+1)·w_k^(n+1) is at most
// omitted: that bounds the probability that a step with the probability w_k reveals more than
// n of d positions.
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

// reach says up to which rank rows are wanted on the canvas with from positions revealed.
func (a *average) reach(from int) int {
	if from >= a.d-a.last {
		return a.d
	}
	return min(from+a.longest, a.d)
}

// log is log P_N(x|π) − log P_FHS(x|π), from what each block of tokens has more under one
// call. states[j] is the logarithm of the probability, times what blocks have more, that j
// positions are revealed.
func (a *average) log(gain func(from, to int) float64) float64 {
	states := make([]float64, a.d+1)
	if a.one {
		for j := range states {
			states[j] = a.logChoose(a.d, j) + times(j, math.Log1p(-a.left)) + times(a.d-j, math.Log(a.left))
		}
	} else {
		a.steps(states, gain)
	}
	if !a.denoise {
		return states[a.d]
	}
	var s logSum
	for n := 0; n <= a.last; n++ {
		s.add(states[a.d-n] + gain(a.d-n, a.d))
	}
	return s.value()
}

// steps takes states through the grid.
func (a *average) steps(states []float64, gain func(from, to int) float64) {
	d, width := a.d, a.longest+1
	// more[j·width+n] is of a step that reveals n positions when j are revealed.
	more := make([]float64, (d+1)*width)
	for j := 0; j <= d; j++ {
		for n := 0; n <= a.longest && j+n <= d; n++ {
			more[j*width+n] = a.logChoose(d-j, n) + gain(j, j+n)
		}
		states[j] = math.Inf(-1)
	}
	states[0] = 0
	for _, p := range a.jump {
		reveal, stay := math.Log(p), math.Log1p(-p)
		for to := d; to >= 0; to-- { // those below are still of the step before
			var s logSum
			for n := 0; n <= a.longest && n <= to; n++ {
				s.add(states[to-n] + more[(to-n)*width+n] + times(n, reveal))
			}
			states[to] = s.value() + times(d-to, stay)
		}
	}
}

// times is n·log p, 0 where n is.
func times(n int, logP float64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) * logP
}

// logSum adds numbers that are known by their logarithms.
type logSum struct {
	top, sum float64
	any      bool
}

func (s *logSum) add(x float64) {
	switch {
	case math.IsInf(x, -1):
	case !s.any:
		s.top, s.sum, s.any = x, 1, true
	case x <= s.top:
		s.sum += math.Exp(x - s.top)
	default:
		s.top, s.sum = x, s.sum*math.Exp(s.top-x)+1
	}
}

func (s *logSum) value() float64 {
	if !s.any {
		return math.Inf(-1)
	}
	return s.top + math.Log(s.sum)
}
