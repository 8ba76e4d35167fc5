package frame

import (
	"fmt"
	"slices"
)

// Canvas is the state of a sequence after some of its frames.
type Canvas struct {
	Cells []Cell
	// Calls is the last frame's.
	Calls int
	// LogP is the sum over all draws, in nats. Masked is the number of masks.
	LogP   float64
	Masked int
	// Drawn is the number of draws, Free the number of positions that were masked at first or
	// appended.
	Drawn int
	Done  bool
}

// Cell is a position. A masked one has no token.
type Cell struct {
	Masked bool
	Token  int
	Piece  string
	// LogP is the log-probability of the token, Call the call that drew it or masked it again: 0 if
	// the token is given or was never drawn.
	LogP float64
	Call int
}

// Apply applies a frame.
func (c *Canvas) Apply(f Frame) {
	c.grow(f.Length + f.Grown)
	for i, l := range f.Positions {
		cell := Cell{Token: f.Tokens[i], Piece: f.Piece(i), Call: f.Call}
		if i < len(f.LogP) {
			cell.LogP = float64(f.LogP[i])
			c.LogP += cell.LogP
			c.Drawn++
		}
		c.put(l, cell)
	}
	for _, l := range f.Masked {
		c.put(l, Cell{Masked: true, Call: f.Call})
	}
	c.Calls, c.Done = f.Call, f.Done
}

func (c *Canvas) grow(n int) {
	for range n {
		c.Cells = append(c.Cells, Cell{Masked: true})
	}
	c.Masked += n
}

func (c *Canvas) put(l int, cell Cell) {
	if c.Cells[l].Masked {
		c.Masked--
	}
	if cell.Masked {
		c.Masked++
	}
	c.Cells[l] = cell
}

// maxLength is the maximum length of a canvas, which an untrusted file determines.
const maxLength = 1 << 17

// Fits returns an error if a frame cannot follow the frames that were applied.
func (c *Canvas) Fits(f Frame) error {
	length := len(c.Cells) + f.Length + f.Grown
	switch {
	case len(c.Cells) == 0 && f.Call != 0, len(c.Cells) > 0 && f.Call != c.Calls+1 && !(f.Call == c.Calls && f.Length+f.Grown+len(f.Positions) == 0 && len(f.Masked) > 0):
		return fmt.Errorf("sequence %d: call %d after call %d", f.Sequence, f.Call, c.Calls)
	case c.Done:
		return fmt.Errorf("sequence %d: call %d after the last", f.Sequence, f.Call)
	case f.Length < 0 || f.Grown < 0 || length > maxLength:
		return fmt.Errorf("sequence %d: call %d: a canvas of %d positions", f.Sequence, f.Call, length)
	case len(f.Alternatives) != 0 && len(f.Alternatives) != len(f.Positions), len(f.Tokens) != len(f.Positions) || len(f.LogP) != len(f.Positions) && f.Call > 0 || len(f.Pieces) != 0 && len(f.Pieces) != len(f.Positions):
		return fmt.Errorf("sequence %d: call %d: lists of positions, tokens, pieces, log-probabilities and alternatives differ in length", f.Sequence, f.Call)
	}
	for _, l := range slices.Concat(f.Positions, f.Masked) {
		if l < 0 || l >= length {
			return fmt.Errorf("sequence %d: call %d: position %d of a canvas of %d", f.Sequence, f.Call, l, length)
		}
	}
	return nil
}
