package oracle

import (
	"math"
)

// blocks returns the outcome of the sampler that reveals blocks of fixed sizes in uniform order.
func (r *more) blocks(n *moreLaw) outcome {
	sizes := wholeSizes(n.Settings.Sizes)
	return outcome{
		settings: object{"sizes": sizes}, plan: true, denoised: parallelLaw(r.w, r.model, sizes), calls: float64(len(sizes)),
		extra: object{"plan_nelbo": sizesCost(r.c, sizes)},
	}
}

// wholeSizes returns the sizes of blocks as integers. A size that is not quite whole shows as a
// difference.
func wholeSizes(sizes []float64) (out []int) {
	for _, x := range sizes {
		out = append(out, max(1, int(math.Round(x))))
	}
	return out
}
