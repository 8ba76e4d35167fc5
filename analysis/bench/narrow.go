package bench

import (
	"math"
	"slices"
)

// narrow are the columns of what cells cost that stand in a table which is not wide.
var narrow = []string{"calls_per_sequence", "finish_calls_per_sequence", "rounds_per_sequence", "masks_left_per_sequence", "total_s_per_sequence", "tokens_per_s", "seconds_over_baseline"}

// expected is the column of calls beside qualities: a number of steps is no cost. They are over
// the window of sampling errors, where these were measured.
var expected = column{true, "", "calls (expected)", func(c *CellReport) (quantity, bool) {
	if e, ok := c.metric("error_calls"); ok {
		return plain(e.Mean), true
	}
	return plain(c.Expected.All()), !math.IsNaN(c.Expected.All())
}}

// shownIn are the columns of a report's tables.
func shownIn(r *Report, wide bool) []column {
	cols := columns(r)
	if wide {
		return cols
	}
	cols = slices.DeleteFunc(cols, func(c column) bool { return !c.quality && !slices.Contains(narrow, c.name) })
	if slices.ContainsFunc(cols, func(c column) bool { return c.quality }) {
		cols = slices.Insert(cols, 0, expected)
	}
	return cols
}
