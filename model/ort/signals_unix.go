//go:build unix

package ort

/*
#include <signal.h>
#include <string.h>

#ifndef NSIG
#define NSIG 32
#endif

static struct sigaction saved[NSIG];

static void save_signals(void) {
	int s;
	for (s = 1; s < NSIG; s++) {
		if (sigaction(s, NULL, &saved[s]) != 0) {
			memset(&saved[s], 0, sizeof saved[s]);
			saved[s].sa_handler = SIG_ERR;
		}
	}
}

// restore_signals puts back what differs and returns how many did.
static int restore_signals(void) {
	struct sigaction now;
	int s, n = 0;
	for (s = 1; s < NSIG; s++) {
		if (saved[s].sa_handler == SIG_ERR || sigaction(s, NULL, &now) != 0)
			continue;
		if (now.sa_handler == saved[s].sa_handler && now.sa_flags == saved[s].sa_flags)
			continue;
		if (sigaction(s, &saved[s], NULL) == 0)
			n++;
	}
	return n;
}

static void take_signal(int s) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = SIG_IGN;
	sigaction(s, &a, NULL);
}
*/
import "C"

import "sync"

var signalMutex sync.Mutex

// restored counts the handlers that were put back, for tests.
var restored int

// keepingSignals calls f and puts back the signal handlers that it changed. The
// CUDA libraries install handlers without a stack of their own, with which Go
// ends the process at the next Ctrl-C.
func keepingSignals(f func() error) error {
	signalMutex.Lock()
	defer signalMutex.Unlock()
	C.save_signals()
	defer func() { restored += int(C.restore_signals()) }()
	return f()
}

// stealSignal does to a signal what a careless library does; for tests, which
// cannot use cgo themselves.
func stealSignal(signal int) { C.take_signal(C.int(signal)) }
