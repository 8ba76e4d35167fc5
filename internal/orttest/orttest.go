// Package orttest is for tests that run networks.
package orttest

import (
	"errors"
	"io"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

// OneThread is for tests about numbers. Packages are tested in parallel, and threads that wait for
// each other spin.
var OneThread = ort.Config{Threads: 1}

// Need calls [reftest.NoRuntime] if err reports that ONNX Runtime is missing.
func Need(t testing.TB, err error) {
	t.Helper()
	var missing *library.MissingError
	if errors.As(err, &missing) {
		reftest.NoRuntime(t, err)
	}
}

// Opened ends a test if a network could not be opened (see [Need] for a missing ONNX Runtime), and
// closes the network when the test ends.
func Opened(t testing.TB, network io.Closer, err error) {
	t.Helper()
	Tried(t, network, err)
	reftest.OK(t, err)
}

// Tried is Opened for a network that may be rejected; the caller checks err.
func Tried(t testing.TB, network io.Closer, err error) {
	t.Helper()
	Need(t, err)
	if err == nil {
		t.Cleanup(func() { reftest.OK(t, errors.Join(network.Close(), network.Close()), "closed twice") })
	}
}
