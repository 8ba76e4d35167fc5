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

// restore_signals puts back what differs.
static void restore_signals(void) {
	struct sigaction now;
	int s;
	for (s = 1; s < NSIG; s++) {
		if (saved[s].sa_handler == SIG_ERR || sigaction(s, NULL, &now) != 0)
			continue;
		if (now.sa_handler == saved[s].sa_handler && now.sa_flags == saved[s].sa_flags)
			continue;
		sigaction(s, &saved[s], NULL);
	}
}
*/
import "C"

import "sync"

var signalMutex sync.Mutex

// keepingSignals calls f and restores the signal handlers that f changed. The CUDA libraries
// install handlers that do not use the signal stack, with which Go ends the process at the next
// Ctrl-C.
func keepingSignals(f func() error) error {
	signalMutex.Lock()
	defer signalMutex.Unlock()
	C.save_signals()
	defer C.restore_signals()
	return f()
}
