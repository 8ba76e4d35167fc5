package model

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallWithoutPositions is a mistake of the program that must not reach the
// runtime, whose graphs fail there.
func TestCallWithoutPositions(t *testing.T) {
	f := Facts{Length: 4, Columns: 5, MaskID: 4}
	if _, wanted, err := callShape(f, 1, []int64{0, 4}, []int64{1}, nil); wanted != 1 || err != nil {
		t.Errorf("one position: %d, %v", wanted, err)
	}
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "2 ids and 0 positions in 1 rows") {
			t.Errorf("no position: %s", r)
		}
	}()
	_, _, _ = callShape(f, 1, []int64{0, 4}, nil, nil)
}
