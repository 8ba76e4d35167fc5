//go:build unix

// Package sigtest changes a signal's handler behind Go's back, as careless
// libraries do. It is for tests, which cannot use cgo themselves.
package sigtest

/*
#include <signal.h>
#include <string.h>

static int ignore_signal(int s) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = SIG_IGN;
	return sigaction(s, &a, NULL);
}
*/
import "C"

// Ignore makes the process ignore a signal and reports whether that worked.
func Ignore(signal int) bool { return C.ignore_signal(C.int(signal)) == 0 }
