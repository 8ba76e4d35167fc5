package causal

import (
	"context"
	"math"
	"time"

	"mdmgen/samplers"
)

// RowCost measures what each further row of a call costs a network that takes canvases of length positions,
// for a call of one row, both behind kept ones: from the fastest of three calls of one row, and of as many
// as the greatest window has. It is 0 for a network that keeps none.
func RowCost(ctx context.Context, net samplers.Network, length int) (cost float64, err error) {
	n := most(net.Spec())
	keeper, ok := net.(samplers.Keeper)
	if !ok || !net.Spec().Causal || n < 2 || 2*n > length || keeper.KeptBytes(2*n) == 0 {
		return 0, nil
	}
	c := samplers.Call{IDs: make([]int64, 2*n), Counts: []int{1}, Kept: []samplers.Kept{keeper.Keep(2 * n)}}
	fastest := func(from, to int) float64 {
		c.Compute = nil
		for l := from; l < to; l++ {
			c.Compute = append(c.Compute, int64(l))
		}
		c.Positions, c.Blocks = c.Compute[to-from-1:], []samplers.Span{{From: to, To: to}}
		least := math.Inf(1)
		for range 3 {
			begin := time.Now()
			if err == nil {
				_, err = net.Logits(ctx, c)
			}
			least = min(least, time.Since(begin).Seconds())
		}
		return least
	}
	fastest(0, n)
	one := fastest(n, n+1)
	return max(fastest(n, 2*n)/one-1, 1e-6) / float64(n-1), err
}
