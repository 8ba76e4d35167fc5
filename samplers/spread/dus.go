package spread

import (
	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// DUS describes the sampler.
var DUS = plan.Sampler{New: newDUS, Descriptor: samplers.Descriptor{
	Name:    "dus",
	Summary: "dilated unmasking scheduler: fixed combs, each with half the distance of the last",
	Law:     "Call k reveals the free positions whose rank is a multiple of ⌊d/2^k⌋, except those already revealed. If the last call has fewer positions than the call before it, the two are merged. Tokens of a call are independent. The plan is fixed." + plan.AtCount,
	Calls:   "about log2 d",
	Cost:    "One call per comb: log2 d if d is a power of 2.",
	Source:  "Dilated Unmasking Scheduler, arXiv 2506.19037, base 2. The authors' program can also mask unsure tokens again; this one does not.",
}}

func newDUS(*plan.Options, samplers.Build) (*plan.Method, error) {
	return &plan.Method{Planner: moved{
		groups: func(free []int) [][]int { return combs(len(free)) },
		calls:  func(d int) int { return len(combs(d)) },
	}}, nil
}

// combs returns the ranks of 0..d−1 that each call reveals.
func combs(d int) [][]int {
	var out [][]int
	taken := make([]bool, d)
	for stride := max(d/2, 1); stride > 0 && d > 0; stride /= 2 {
		var comb []int
		for r := 0; r < d; r += stride {
			if !taken[r] {
				taken[r], comb = true, append(comb, r)
			}
		}
		if len(comb) > 0 {
			out = append(out, comb)
		}
	}
	if n := len(out); n > 1 && len(out[n-1]) < len(out[n-2]) {
		out[n-2] = append(out[n-2], out[n-1]...)
		out = out[:n-1]
	}
	return out
}
