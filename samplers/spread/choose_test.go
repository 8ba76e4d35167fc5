package spread

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLeast compares the groups of few positions with all ordered partitions.
func TestLeast(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		d := 2 + random.IntN(5)
		free := make([]int, d)
		for i := range free {
			free[i] = i
			if i > 0 {
				free[i] = free[i-1] + 1 + random.IntN(3)
			}
		}
		calls := 1 + random.IntN(d)
		want := math.Inf(1)
		var try func(left []int, groups [][]int)
		try = func(left []int, groups [][]int) {
			if len(left) == 0 {
				if len(groups) == calls {
					want = min(want, Predict(Assumed, free, groups))
				}
				return
			}
			for g := 1; g < 1<<len(left) && len(groups) < calls; g++ {
				var in, out []int
				for i, r := range left {
					if g>>i&1 == 1 {
						in = append(in, r)
					} else {
						out = append(out, r)
					}
				}
				try(out, append(slices.Clip(groups), in))
			}
		}
		all := make([]int, d)
		for i := range all {
			all[i] = i
		}
		try(all, nil)
		got := Choose(Assumed, free, calls)
		if e := Predict(Assumed, free, got.Groups); math.Abs(e-want) > 1e-12 || math.Abs(got.Nats-want) > 1e-12 {
			t.Errorf("%v in %d calls: %v with %v, want %v", free, calls, got.Groups, e, want)
		}
	}
}

// TestImproved checks that no swap of two positions and no move to a neighbouring group reduces the error
// of the groups of many positions.
func TestImproved(t *testing.T) {
	t.Parallel()
	for _, d := range []int{20, 48} {
		free := make([]int, d)
		for i := range free {
			free[i] = i + i*i/7
		}
		best := Choose(Assumed, free, 6)
		for k, g := range best.Groups {
			for l, h := range best.Groups {
				for i := range g {
					for j := range h {
						if k == l {
							continue
						}
						g[i], h[j] = h[j], g[i]
						if e := Predict(Assumed, free, best.Groups); e < best.Nats*(1-1e-9) {
							t.Errorf("%d positions: a swap reduces %v to %v", d, best.Nats, e)
						}
						g[i], h[j] = h[j], g[i]
					}
				}
			}
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, d := range []int{12, 128, 1024} {
		free := make([]int, d)
		for i := range free {
			free[i] = i
		}
		for _, calls := range []int{8, 64} {
			b.Run(fmt.Sprintf("d=%d/calls=%d", d, calls), func(b *testing.B) {
				for b.Loop() {
					Choose(Assumed, free, min(calls, d))
				}
			})
		}
	}
}
