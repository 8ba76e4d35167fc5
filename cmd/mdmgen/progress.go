package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal how much of the work is done and how long the rest will
// take; elsewhere it is silent.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns the progress of total tokens on standard error. show is false where
// nothing shall be shown even on a terminal, because the results share it.
func newProgress(s streams, total int, show bool) *progress {
	return newBar(s, total, show, "sampling", "tokens")
}

// newBar is newProgress for any work that is counted in a unit.
func newBar(s streams, total int, show bool, work, unit string) *progress {
	if !show || s.hushed() || !isTerminal(s.err) || os.Getenv("TERM") == "dumb" {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(s.err),
		progressbar.OptionSetDescription(work),
		progressbar.OptionSetItsString(unit),
		progressbar.OptionShowIts(),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// add counts n more tokens.
func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // A progress line that cannot be drawn is no failure.
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// isTerminal tells whether w is a terminal.
func isTerminal(w any) bool {
	if o, ok := w.(*standardOutput); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
