package lawstest

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// HashNet is a network for any length: its rows are a hash of the canvas, the position and σ. It
// checks its arguments.
type HashNet struct {
	draw.Vocabulary
	Timed        bool
	All          bool // positions that are not masked are queried, too
	Calls, Asked int  // calls, and the canvases in them
	Fail         func(call int) error
	// Bad is what was wrong with a call.
	Bad string
	// Change modifies the Spec.
	Change func(*samplers.Spec)
	out    []float32
}

// Spec returns the Spec, as changed.
func (n *HashNet) Spec() samplers.Spec {
	s := samplers.Spec{TimeConditioned: n.Timed, Vocabulary: n.Vocabulary}
	if n.Change != nil {
		n.Change(&s)
	}
	return s
}

// Logits returns the rows in memory that the next call reuses.
func (n *HashNet) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	n.Calls++
	n.Asked += len(c.Counts)
	if n.Fail != nil {
		if err := n.Fail(n.Calls); err != nil {
			return nil, err
		}
	}
	rows, wanted := len(c.Counts), 0
	for _, k := range c.Counts {
		wanted += k
	}
	if rows < 1 || len(c.IDs)%rows != 0 || wanted != len(c.Positions) || slices.Min(c.Counts) < 1 || n.Timed != (c.Sigma != nil) || n.Timed && len(c.Sigma) != rows {
		n.Bad = fmt.Sprintf("rows of %v, %d ids, %d positions, %d values of σ", c.Counts, len(c.IDs), len(c.Positions), len(c.Sigma))
	}
	length, rest := c.Length(), c.Positions
	out := n.out[:0]
	for r, k := range c.Counts {
		canvas := c.IDs[r*length : (r+1)*length]
		var positions []int64
		positions, rest = rest[:k], rest[k:]
		h := fnv.New64a()
		binary.Write(h, binary.LittleEndian, canvas)
		if n.Timed {
			binary.Write(h, binary.LittleEndian, c.Sigma[r])
		}
		seen := h.Sum64()
		for _, l := range positions {
			if !n.All && canvas[l] != int64(n.Mask) {
				n.Bad = fmt.Sprintf("position %d of %v is wanted", l, canvas)
			}
			h.Reset()
			binary.Write(h, binary.LittleEndian, seen^uint64(l))
			x := h.Sum64()
			for range n.Columns {
				x = x*6364136223846793005 + 1442695040888963407
				out = append(out, float32(x>>40)*0x1p-22)
			}
		}
	}
	n.out = out
	return out, nil
}

// NewHashNet returns a network of seven columns, one of which, 4, is never drawn, and MASK 6.
func NewHashNet(timed bool) *HashNet {
	return &HashNet{Vocabulary: draw.Vocabulary{Columns: 7, Mask: 6, Excluded: []int{4}}, Timed: timed}
}

// Near is a network whose rows depend only on the last far tokens to the left, so that drafts are
// often right.
type Near struct {
	*HashNet
	far int
}

// Near returns a network with rows of this one.
func (n *HashNet) Near(far int) Near { return Near{n, far} }

// Logits asks the network once per row.
func (n Near) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	length, rest := c.Length(), c.Positions
	var out []float32
	for r, k := range c.Counts {
		for _, l := range rest[:k] {
			one := samplers.Call{IDs: slices.Repeat([]int64{int64(n.Mask)}, length), Positions: []int64{l}, Counts: []int{1}}
			for m := max(int(l)-n.far, 0); m < int(l); m++ {
				one.IDs[m] = c.IDs[r*length+m]
			}
			if c.Sigma != nil {
				one.Sigma = c.Sigma[r : r+1]
			}
			row, err := n.HashNet.Logits(ctx, one)
			if err != nil {
				return nil, err
			}
			out = append(out, row...)
		}
		rest = rest[k:]
	}
	return out, nil
}
