package kit

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows on a terminal how much of the work is done and how long the rest will
// take; elsewhere it is silent.
type Progress struct{ bar *progressbar.ProgressBar }

// NewProgress returns the progress of total tokens on standard error. show is false where
// nothing shall be shown even on a terminal, because the results share it.
func NewProgress(s Streams, total int, show bool) *Progress {
	return NewBar(s, total, show, "sampling", "tokens")
}

// NewBar is NewProgress for any work that is counted in a unit.
func NewBar(s Streams, total int, show bool, work, unit string) *Progress {
	return newBar(s, int64(total), show, work, progressbar.OptionSetItsString(unit), progressbar.OptionShowIts())
}

func newBar(s Streams, total int64, show bool, work string, unit ...progressbar.Option) *Progress {
	if !show || s.Hushed() || !IsTerminal(s.Err) || os.Getenv("TERM") == "dumb" {
		return &Progress{}
	}
	return &Progress{progressbar.NewOptions64(total, append(unit,
		progressbar.OptionSetWriter(s.Err),
		progressbar.OptionSetDescription(work),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)...)}
}

// NewBytes is NewBar for what is counted in bytes.
func NewBytes(s Streams, total int64, work string) *Progress {
	return newBar(s, total, true, work, progressbar.OptionShowBytes(true))
}

// Add counts n more tokens.
func (p *Progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // A progress line that cannot be drawn is no failure.
	}
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// IsTerminal tells whether w is a terminal.
func IsTerminal(w any) bool {
	if o, ok := w.(*StandardOutput); ok {
		w = o.W
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
