package draw

import (
	"sync"

	"mdmgen/internal/parallel"
)

// Position is a position whose token is to be drawn from its row: see [Categorical.Best].
type Position struct {
	From    *Categorical
	Row     Row
	Uniform float64
	Top     int
	To      *Result // receives the result
}

// Result is the result of a draw.
type Result struct {
	Best
	Err error
}

// enough is the number of logits above which All uses several goroutines.
const enough = 1 << 15

// spare holds the memory of finished draws.
var spare = sync.Pool{New: func() any { return new(scratch) }}

// All draws all positions independently, so that the number of goroutines does not change the results.
func All(positions []Position) {
	logits := 0
	one := func(i int) {
		x, memory := &positions[i], spare.Get().(*scratch)
		from := x.From.in(memory)
		x.To.Best, x.To.Err = from.Best(x.Row, x.Uniform, x.Top)
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
