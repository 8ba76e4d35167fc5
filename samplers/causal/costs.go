package causal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"mdmgen/samplers"
)

// Costs measures the calls of the windows 1, 2, 4, … of a network that takes canvases of length positions:
// the seconds of the fastest of three about so many causal rows, behind as many kept ones as the greatest
// has. It is nil for a network that keeps none.
func Costs(ctx context.Context, net samplers.Network, length int) (out []float64, err error) {
	most := cmp.Or(net.Spec().BlockSize, defaultWindow)
	keeper, ok := net.(samplers.Keeper)
	if !ok || !net.Spec().Causal || 2*most > length || keeper.KeptBytes(2*most) == 0 {
		return nil, nil
	}
	c := samplers.Call{IDs: make([]int64, 2*most), Counts: []int{1}, Kept: []samplers.Kept{keeper.Keep(2 * most)}}
	call := func(from, to int) (seconds float64) {
		c.Compute = c.Compute[:0]
		for l := from; l < to; l++ {
			c.Compute = append(c.Compute, int64(l))
		}
		c.Positions, c.Blocks = c.Compute[to-from-1:], []samplers.Span{{From: to, To: to}}
		begin := time.Now()
		if err == nil {
			_, err = net.Logits(ctx, c)
		}
		return time.Since(begin).Seconds()
	}
	call(0, most)
	for n := 1; n <= most; n *= 2 {
		var times []float64
		for range 3 {
			times = append(times, call(most, most+n))
		}
		out = append(out, slices.Min(times))
	}
	return out, err
}
