package oracle

import (
	"iter"
	"maps"
	"slices"
)

// inOrder goes through a map by its keys, so that of several faults the same is told
// every time.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
