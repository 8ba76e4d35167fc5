package library

import (
	"errors"
	"testing"
)

// TestMissingErrorTellsCausesApart checks that the errors of several clients are separated in one
// line.
func TestMissingErrorTellsCausesApart(t *testing.T) {
	e := &MissingError{What: "fetching failed", Err: errors.Join(errors.New("pip: boom\n  twice"), errors.New("python: not there")), Do: errors.New("do this")}
	if got, want := e.Error(), "onnx runtime: fetching failed: pip: boom twice; python: not there: do this"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
