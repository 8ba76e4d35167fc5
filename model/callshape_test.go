package model

import (
	"fmt"
	"strings"
	"testing"

	"mdmgen/samplers"
)

// TestCallWithoutPositions checks that a call without positions, a mistake of the program, does not
// reach the runtime, whose graphs fail on it.
func TestCallWithoutPositions(t *testing.T) {
	f := Facts{Length: 4, Columns: 5, MaskID: 4}
	if length, err := callShape(f, samplers.Call{IDs: []int64{0, 4}, Positions: []int64{1}, Counts: []int{1}}); length != 2 || err != nil {
		t.Errorf("one position: %d, %v", length, err)
	}
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "2 ids and 0 positions in rows of [0]") {
			t.Errorf("no position: %s", r)
		}
	}()
	_, _ = callShape(f, samplers.Call{IDs: []int64{0, 4}, Counts: []int{0}})
}
