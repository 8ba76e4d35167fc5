package draw

import (
	"sync"

	"mdmgen/internal/parallel"
)

// Position is one whose token is to be drawn from its row: see [Categorical.Best].
type Position struct {
	Law     *Categorical
	Row     Row
	Uniform float64
	Top     int
	To      *Result // what was drawn is put there
}

// Result is what was made of a position.
type Result struct {
	Best
	Err error
}

// enough is how many logits are worth other goroutines.
const enough = 1 << 15

// spare is the memory of draws that have ended.
var spare = sync.Pool{New: func() any { return new(scratch) }}

// All draws positions, each by itself, so that the number of goroutines changes nothing.
func All(positions []Position) {
	logits := 0
	one := func(i int) {
		x, memory := &positions[i], spare.Get().(*scratch)
		law := x.Law.in(memory)
		x.To.Best, x.To.Err = law.Best(x.Row, x.Uniform, x.Top)
		spare.Put(memory)
	}
	for _, x := range positions {
		logits += x.Row.Len()
	}
	if logits >= enough {
		parallel.For(len(positions), one)
		return
	}
	for i := range positions {
		one(i)
	}
}
