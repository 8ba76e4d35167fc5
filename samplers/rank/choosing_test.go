package rank

import (
	"slices"
	"testing"

	"mdmgen/samplers/schedule"
)

// TestChoosing checks the choices of each rule for scores computed by hand. Positions are the
// indices of the scores, except for localleap.
func TestChoosing(t *testing.T) {
	for _, test := range []struct {
		name     string
		rule     choosing
		run      blockRun
		scores   []float64
		at, want []int
	}{
		{"the quota is what was considered", quotaChoice{rounding: schedule.RoundLLaDA}, blockRun{}, []float64{0.9, 0.1}, nil, []int{0, 1}},
		{"those that reach the threshold", thresholdChoice{threshold: 0.5}, blockRun{}, []float64{0.9, 0.5, 0.4}, nil, []int{0, 1}},
		{"the best in any case", thresholdChoice{threshold: 0.95}, blockRun{}, []float64{0.9, 0.5}, nil, []int{0}},
		// With F = 1.5 the r-th must have 0.5, 0.625 and 0.7 for r = 2, 3 and 4.
		{"up to the first that fails", factorChoice{factor: 1.5}, blockRun{}, []float64{0.9, 0.6, 0.6, 0.6, 0.6}, nil, []int{0, 1}},
		{"the last may fail", factorChoice{factor: 1.5}, blockRun{}, []float64{0.9, 0.6, 0.6}, nil, []int{0, 1, 2}},
		{"the last may not", factorChoice{factor: 1.5, strict: true}, blockRun{}, []float64{0.9, 0.6, 0.6}, nil, []int{0, 1}},
		{"one candidate", factorChoice{factor: 0.1}, blockRun{}, []float64{0.1}, nil, []int{0}},
		{"near an anchor less is enough", leapChoice{threshold: 0.8, relaxed: 0.4, radius: 2}, blockRun{}, []float64{0.9, 0.6, 0.5, 0.45, 0.3}, []int{7, 1, 9, 5, 6}, []int{7, 9, 5}},
		{"without an anchor the best", leapChoice{threshold: 0.95, relaxed: 0.4, radius: 9}, blockRun{}, []float64{0.9, 0.6}, nil, []int{0}},
		{"all that are sure", surelyChoice{threshold: 0.5}, blockRun{quotas: []int{1}}, []float64{0.9, 0.6, 0.5}, nil, []int{0, 1}},
		{"the quota where fewer are sure", surelyChoice{threshold: 0.95}, blockRun{quotas: []int{9, 2}, calls: 1}, []float64{0.9, 0.6, 0.5}, nil, []int{0, 1}},
		{"at least so many", surelyChoice{threshold: 0.95, least: 3}, blockRun{}, []float64{0.9, 0.6}, nil, []int{0, 1}},
		// Scores are entropies here, used in their order.
		{"entropies within the bound", boundedChoice{gamma: 0.5}, blockRun{}, []float64{0.1, 0.3, 0.6, 0.7}, nil, []int{0, 1, 2}},
		{"one in any case", boundedChoice{}, blockRun{}, []float64{0.1, 0.3}, nil, []int{0}},
		{"those without entropy, and one more", boundedChoice{}, blockRun{}, []float64{0, 0, 0.3, 0.4}, nil, []int{0, 1, 2}},
	} {
		var best []candidate
		for i, x := range test.scores {
			c := candidate{position: i, score: x, entropy: x}
			if test.at != nil {
				c.position = test.at[i]
			}
			best = append(best, c)
		}
		var got []int
		for _, c := range test.rule.choose(&test.run, best) {
			got = append(got, c.position)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestConsider checks the number of candidates that a call may commit, and when a block has no more
// calls.
func TestConsider(t *testing.T) {
	for _, test := range []struct {
		name string
		rule choosing
		run  blockRun
		n    int
		more bool
	}{
		{"a quota", quotaChoice{rounding: schedule.RoundLLaDA}, blockRun{quotas: []int{2, 1}, calls: 1}, 1, true},
		{"no quota left", quotaChoice{rounding: schedule.RoundLLaDA}, blockRun{quotas: []int{2, 1}, calls: 2, masked: 1}, 0, false},
		{"Dream's last call", quotaChoice{rounding: schedule.RoundDream}, blockRun{steps: 3, calls: 2, masked: 5}, 5, true},
		{"Fast-dLLM calls once", thresholdChoice{}, blockRun{candidates: 2}, 2, true},
		{"and not again", thresholdChoice{}, blockRun{candidates: 2, calls: 1}, 2, false},
		{"LocalLeap does not", leapChoice{}, blockRun{candidates: 2}, 2, false},
		{"what was refused is considered again", thresholdChoice{rounding: schedule.RoundDream}, blockRun{quotas: []int{3, 3}, calls: 1, refused: 2}, 5, true},
		{"behind the plan, too", thresholdChoice{rounding: schedule.RoundDream}, blockRun{quotas: []int{3, 3}, calls: 2, refused: 2}, 2, true},
		{"all but what later calls are due", thresholdChoice{rounding: schedule.RoundDLLM}, blockRun{quotas: []int{3, 3, 2}, calls: 1, masked: 7}, 5, true},
		{"edits go on without masks", surelyChoice{edits: true, polishes: 2}, blockRun{polished: 1}, 0, true},
		{"until nothing changes", surelyChoice{edits: true, polishes: 2}, blockRun{polished: 1, idle: true}, 0, false},
		{"or there were enough", surelyChoice{edits: true, polishes: 2}, blockRun{polished: 2}, 0, false},
	} {
		if n, more := test.rule.consider(&test.run); more != test.more || more && n != test.n {
			t.Errorf("%s: %d, %t, want %d, %t", test.name, n, more, test.n, test.more)
		}
	}
}
