package draw

import (
	"runtime"
	"sync"
	"sync/atomic"
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

// Pool draws several positions on all processors. The zero value is ready; it belongs to one
// goroutine.
type Pool struct{ scratch []*scratch }

// enough is how many logits are worth another goroutine.
const enough = 1 << 15

// Draw draws positions, each by itself, so that the number of goroutines changes nothing.
func (p *Pool) Draw(all []Position) {
	if len(all) == 0 {
		return
	}
	logits := 0
	for _, x := range all {
		logits += x.Row.Len()
	}
	workers := min(runtime.GOMAXPROCS(0), len(all), 1+logits/enough)
	for len(p.scratch) < workers {
		p.scratch = append(p.scratch, new(scratch))
	}
	var next atomic.Int64
	work := func(s *scratch) {
		var law Categorical
		for {
			i := int(next.Add(1)) - 1
			if i >= len(all) {
				return
			}
			x := &all[i]
			law = x.Law.in(s)
			x.To.Best, x.To.Err = law.Best(x.Row, x.Uniform, x.Top)
		}
	}
	var wait sync.WaitGroup
	for _, s := range p.scratch[1:workers] {
		wait.Go(func() { work(s) })
	}
	work(p.scratch[0])
	wait.Wait()
}
