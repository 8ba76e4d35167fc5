// Package parallel distributes work over a machine's processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls do for 0..n−1, the last first, from GOMAXPROCS goroutines, and returns when all calls
// have returned.
func For(n int, do func(i int)) {
	var wg sync.WaitGroup
	var taken atomic.Int64
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := n - int(taken.Add(1)); i >= 0; i = n - int(taken.Add(1)) {
				do(i)
			}
		})
	}
	wg.Wait()
}
