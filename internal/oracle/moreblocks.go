package oracle

import (
	"math"

	"mdmgen/samplers/schedule"
)

// blocks are the samplers that reveal blocks of fixed sizes in uniform order.
func (r *more) blocks(n, s *node) outcome {
	sizes := r.sizes(s)
	if r.in.err != nil {
		return outcome{}
	}
	out := outcome{settings: object{"sizes": sizes}, plan: true, calls: float64(len(sizes)), extra: object{}}
	floor := 0.0
	if s.fields["floor"] != nil {
		floor = r.in.number(s, "floor", 0, 1)
		out.settings["floor"] = given{}
	}
	if r.in.text(n, "sampler") == "fhs_parallel" {
		out.denoised = r.w.ParallelLaw(sizes)
		out.extra["plan_nelbo"] = schedule.SizesCost(r.c, sizes)
		return out
	}
	weights := pairWeights(sizes)
	out.settings["weights"] = weights
	out.denoised = r.w.BlockLaw(sizes, weights, floor)
	return out
}

// pairWeights are the weights of paired blocks (1,2), (3,4), …: in the second of a pair of sizes
// a and b it is (a+b)(a+b−1)/(2ab) − 1, by which the part of the pair interactions that the blocks
// lose is put back; 0 in the first and in a last block without a partner.
func pairWeights(sizes []int) []float64 {
	out := make([]float64, len(sizes))
	for n := 1; n < len(sizes); n += 2 {
		a, b := float64(sizes[n-1]), float64(sizes[n])
		out[n] = (a+b)*(a+b-1)/(2*a*b) - 1
	}
	return out
}

// sizes are whole numbers that sum to d. One that is not quite whole is a difference to
// report, not a file that cannot be read.
func (r *more) sizes(s *node) []int {
	var out []int
	sum := 0
	for _, x := range r.in.numbers(s, "sizes", 0.5, float64(r.w.D)+0.5) {
		out = append(out, max(1, int(math.Round(x))))
		sum += out[len(out)-1]
	}
	if r.in.err == nil && sum != r.w.D {
		r.in.fail("field %q: %v: must sum to d = %d", "sizes", out, r.w.D)
	}
	return out
}
