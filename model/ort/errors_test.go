package ort

import (
	"errors"
	"testing"
)

// TestMissingErrorTellsCausesApart: what several clients said is a line in which one ends and
// the next begins.
func TestMissingErrorTellsCausesApart(t *testing.T) {
	e := &MissingError{What: "fetching failed", Err: errors.Join(errors.New("pip: boom\n  twice"), errors.New("npm: not there")), Do: "do this"}
	if got, want := e.Error(), "onnx runtime: fetching failed: pip: boom twice; npm: not there: do this"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
