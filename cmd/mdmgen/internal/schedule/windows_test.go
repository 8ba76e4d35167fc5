package schedule

import (
	"strings"
	"testing"
)

// TestCandidates checks that no two windows of one width have equal refreshes, and that the
// cheapest comes first.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, d := range []int{3, 12, 16, 128} {
		type kind struct {
			width    string
			computed float64
		}
		seen := make(map[kind]bool)
		last := 0.0
		for _, c := range candidates(d) {
			width, _, _ := strings.Cut(c.Cache, "/")
			if k := (kind{width, c.Computed}); seen[k] || c.Computed < last {
				t.Errorf("%d positions: %s computes %v a token, as another, or less than one before", d, c.Cache, c.Computed)
			} else {
				seen[k], last = true, c.Computed
			}
		}
		if len(seen) == 0 {
			t.Errorf("%d positions: no window", d)
		}
	}
}
