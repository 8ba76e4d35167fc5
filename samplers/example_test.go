package samplers_test

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// coin is a network of two tokens that likes to repeat the token on its left.
type coin struct{}

func (coin) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 2, Mask: 2}}
}

func (coin) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	length, positions := c.Length(), c.Positions
	var out []float32
	for r, wanted := range c.Counts {
		canvas := c.IDs[r*length:][:length]
		for _, l := range positions[:wanted] {
			row := []float32{0, 0}
			if l > 0 && canvas[l-1] < 2 {
				row[canvas[l-1]] = float32(math.Log(9))
			}
			out = append(out, row...)
		}
		positions = positions[wanted:]
	}
	return out, nil
}

// The first-hitting sampler fills a canvas around an existing token.
func ExampleSample() {
	const mask = 2
	canvas := []int{mask, mask, 1, mask, mask, mask}
	seqs := slices.Values([]samplers.Sequence{{Index: 0, Canvas: canvas}, {Index: 1, Canvas: canvas}})
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: 1, Batch: 2}
	totals, err := samplers.Sample(context.Background(), coin{}, seqs, cfg, func(r samplers.Result) error {
		fmt.Println(r.Index, r.IDs, r.Calls)
		return nil
	})
	fmt.Println(totals.Rows, totals.NetworkCalls, err)
	// Output:
	// 0 [1 1 1 1 0 0] 5
	// 1 [0 0 1 1 0 0] 5
	// 10 5 <nil>
}
