package oracle

import (
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/samplers"
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
	switch r.in.text(n, "sampler") {
	case "fhs_parallel":
		out.denoised = r.w.ParallelLaw(sizes)
		out.extra["plan_nelbo"] = samplers.SizesCost(r.c, sizes)
	case "fhs_extrapolated_count":
		clock := laws.CountClock(sizes)
		if s.fields["weights"] != nil {
			out.settings["weights"] = clockWeights(sizes, clock)
		}
		out.denoised = r.w.BlockLaw(sizes, laws.LookBackFill(floor, clock))
	case "fhs_paired":
		weights := laws.PairWeights(sizes)
		out.settings["weights"] = weights
		out.denoised = r.w.BlockLaw(sizes, laws.LookBackFill(floor, func(block, _ int) float64 { return weights[block] }))
	case "fhs_extrapolated_time":
		fill, ok := laws.HittingFill(sizes)
		if !ok || r.w.Timed() || floor != 0 {
			r.in.fail("sizes %v: hitting times are integrated for one extrapolated token, without a floor, in a world without time", sizes)
			return outcome{}
		}
		out.denoised, out.looser = r.w.BlockLaw(sizes, fill), quadratureLoosening
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

// clockWeights are the weights of the count clock, a list a block.
func clockWeights(sizes []int, clock func(block, i int) float64) [][]float64 {
	out := make([][]float64, len(sizes))
	for n, size := range sizes {
		out[n] = make([]float64, size)
		for i := range size {
			if n > 0 {
				out[n][i] = clock(n, i)
			}
		}
	}
	return out
}
