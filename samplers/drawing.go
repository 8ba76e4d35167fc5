package samplers

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"mdmgen/samplers/draw"
)

// drawn is what was made of a wanted position.
type drawn struct {
	draw.Best
	err error
}

// drawing is a position that is to be drawn from its row.
type drawing struct {
	law     *draw.Categorical
	row     []float32
	uniform float64
	top     int
	to      *drawn
}

// enough is how many logits are worth another goroutine.
const enough = 1 << 15

// drawAll draws positions, each by itself, so that the number of goroutines changes
// nothing.
func (e *engine) drawAll(all []drawing) {
	workers := min(runtime.GOMAXPROCS(0), len(all), 1+len(all)*e.spec.Columns/enough)
	for len(e.scratch) < workers {
		e.scratch = append(e.scratch, new(draw.Scratch))
	}
	var next atomic.Int64
	work := func(s *draw.Scratch) {
		var law draw.Categorical // one for all: each would be allocated
		for {
			i := int(next.Add(1)) - 1
			if i >= len(all) {
				return
			}
			d := &all[i]
			law = d.law.In(s)
			d.to.Best, d.to.err = law.Best(d.row, d.uniform, d.top)
		}
	}
	var wait sync.WaitGroup
	for _, s := range e.scratch[1:workers] {
		wait.Go(func() { work(s) })
	}
	work(e.scratch[0])
	wait.Wait()
}

var errNoSoftmax = errors.New("its row has no softmax: a logit is not a number or +Inf, or all are −Inf")
