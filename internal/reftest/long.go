package reftest

import "testing"

// Long leaves out a test with -short, as under the race detector: it computes laws or numbers for
// long, and starts no goroutines that other tests do not.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: leave -short out")
	}
}
