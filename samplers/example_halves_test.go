package samplers_test

import (
	"context"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// halves is a planned method: which position is revealed by which call does not
// depend on the network. It reveals every other free position by one call, and the rest
// by another.
type halves struct{}

// Start draws the plan. Here there is nothing to draw; one that is random takes
// d.Plan(position), one uniform a position.
func (halves) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	var blocks [2][]int
	for i, l := range c.Masked(nil) {
		blocks[i%2] = append(blocks[i%2], l)
	}
	return &halving{draws: d, blocks: blocks[:]}, nil
}

// halving is the decoder of one sequence.
type halving struct {
	draws  *draw.Numbers
	blocks [][]int
	block  []int
}

func (h *halving) Ask(a *samplers.Ask) bool {
	for len(h.blocks) > 0 {
		h.block, h.blocks = h.blocks[0], h.blocks[1:]
		if len(h.block) > 0 {
			a.Rows = append(a.Rows, samplers.AskRow{Positions: h.block})
			return true
		}
	}
	return false
}

func (h *halving) Take(r samplers.Rows, e *samplers.Edit) error {
	for i, l := range h.block {
		token, logP, err := r.Token(0, i, h.draws.Token(l))
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, token, logP)
	}
	return nil
}

func ExampleMethod_planned() {
	canvas := slices.Repeat([]int{2}, 6) // 2 is MASK here
	_, err := samplers.Sample(context.Background(), coin{}, slices.Values([]samplers.Sequence{{Canvas: canvas}}),
		samplers.Config{Method: halves{}, Seed: 1}, func(r samplers.Result) error {
			fmt.Println(r.IDs, r.Calls, "calls")
			return nil
		})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 1 1 1 0 0] 2 calls
}
