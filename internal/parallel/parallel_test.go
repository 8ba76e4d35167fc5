package parallel

import (
	"slices"
	"testing"
)

// TestFor checks that every number is used once.
func TestFor(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		done := make([]int, n)
		For(n, func(i int) { done[i]++ })
		if want := slices.Repeat([]int{1}, n); !slices.Equal(done, want) {
			t.Errorf("of %d: %v", n, done)
		}
	}
}
