package oracle

import (
	"math"
)

// blocks returns the outcome of the samplers that reveal blocks of fixed sizes in uniform order.
func (r *more) blocks(n *moreLaw) outcome {
	sizes := wholeSizes(n.Settings.Sizes)
	out := outcome{settings: object{"sizes": sizes}, plan: true, calls: float64(len(sizes)), extra: object{}}
	floor := 0.0
	if n.Settings.Floor != nil {
		floor, out.settings["floor"] = *n.Settings.Floor, given{}
	}
	if n.Sampler == "fhs_parallel" {
		out.denoised = parallelLaw(r.w, r.model, sizes)
		out.extra["plan_nelbo"] = sizesCost(r.c, sizes)
		return out
	}
	weights := pairWeights(sizes)
	out.settings["weights"] = weights
	out.denoised = blockLaw(r.w, sizes, weights, floor)
	return out
}

// pairWeights returns the weights of paired blocks (1,2), (3,4), …: for the second of a pair of
// sizes a and b, (a+b)(a+b−1)/(2ab) − 1, which restores the part of the pair interactions that the
// blocks lose; 0 for the first, and for a last block without a partner.
func pairWeights(sizes []int) []float64 {
	out := make([]float64, len(sizes))
	for n := 1; n < len(sizes); n += 2 {
		a, b := float64(sizes[n-1]), float64(sizes[n])
		out[n] = (a+b)*(a+b-1)/(2*a*b) - 1
	}
	return out
}

// wholeSizes returns the sizes of blocks as integers. A size that is not quite whole shows as a
// difference.
func wholeSizes(sizes []float64) (out []int) {
	for _, x := range sizes {
		out = append(out, max(1, int(math.Round(x))))
	}
	return out
}
