package kit

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how much of the work is done and how long the rest will take: as a bar on a
// terminal, elsewhere as a line now and then. It is safe for use by several goroutines.
type Progress struct {
	// bar is nil unless standard error is a terminal; print is nil unless lines are printed.
	bar   *progressbar.ProgressBar
	print func(line string)
	// unit is "" for bytes.
	work, unit string
	total      int64
	// out is standard output if it is a terminal too: the bar is hidden before anything is printed
	// there.
	out *StandardOutput

	mu             sync.Mutex
	done           int64
	begin, printed time.Time
}

// NewBar returns the progress of work on standard error, counted in unit, "" for bytes.
func NewBar(s Streams, total int, work, unit string) *Progress {
	p := &Progress{work: work, unit: unit, total: int64(total), begin: time.Now()}
	p.printed = p.begin
	switch {
	case s.hushed() || total <= 0:
	case !IsTerminal(s.Err) || os.Getenv("TERM") == "dumb":
		p.print = s.Notice
	default:
		columns, _ := Size(s.Err)
		p.bar = progressbar.NewOptions64(p.total,
			progressbar.OptionShowBytes(unit == ""),
			progressbar.OptionSetWriter(s.Err),
			progressbar.OptionSetDescription(strings.TrimSpace(work+" "+unit)),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetRenderBlankState(true), // before the first unit is done
			// Leave room for ^C next to the bar: a line that wraps is not removed.
			progressbar.OptionSetWidth(min(max(columns-60, 5), 40)),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
		if IsTerminal(s.Out) {
			p.out = s.Out
			p.out.Before(p.hide)
		}
	}
	return p
}

// Watch returns a function that begins the progress of some work of total bytes, replacing the
// previous one, and a function that removes the last.
func (s Streams) Watch() (begin func(work string, total int64) func(bytes int64), end func()) {
	bar := &Progress{}
	return func(work string, total int64) func(int64) {
		bar.Clear()
		bar = NewBar(s, int(total), work, "")
		return func(n int64) { bar.Add(int(n)) }
	}, func() { bar.Clear() }
}

// Add counts n more units.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Add(n) // Failing to draw a progress line is no failure.
	}
	if p.print != nil {
		p.add(n, time.Now())
	}
}

// hide removes the bar until more units are done.
func (p *Progress) hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// Clear removes the bar for good.
func (p *Progress) Clear() {
	p.hide()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar = nil
	if p.out != nil {
		p.out.Before(nil)
	}
}

// lineEvery is the minimum time between two lines of progress.
const lineEvery = 10 * time.Second

// add counts n more units, and prints a line if the last one was printed long ago. The caller holds
// the lock.
func (p *Progress) add(n int, now time.Time) {
	p.done += int64(n)
	if now.Sub(p.printed) < lineEvery || p.done <= 0 || p.done >= p.total {
		return
	}
	p.printed = now
	rate := float64(p.done) / now.Sub(p.begin).Seconds()
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second)).Round(time.Second)
	if p.unit == "" {
		p.print(fmt.Sprintf("%s: %s of %s, %s/s, %v left", p.work, humanize.Bytes(uint64(p.done)), humanize.Bytes(uint64(p.total)), humanize.Bytes(uint64(rate)), left))
		return
	}
	p.print(fmt.Sprintf("%s: %s of %s %s, %.3g/s, %v left", p.work, humanize.Comma(p.done), humanize.Comma(p.total), p.unit, rate, left))
}

// Size returns the width and height of the terminal w, 0 if w is not a terminal.
func Size(w any) (columns, rows int) {
	if f := terminal(w); f != nil {
		columns, rows, _ = term.GetSize(int(f.Fd()))
	}
	return columns, rows
}

// IsTerminal reports whether w, one of the standard streams, is a terminal.
func IsTerminal(w any) bool { return terminal(w) != nil }

// terminal returns the terminal behind a stream, nil if the stream is another file.
func terminal(w any) *os.File {
	switch o := w.(type) {
	case *StandardOutput:
		w = o.W
	case interface{ Under() io.Reader }: // standard input, whose reads end with the context
		w = o.Under()
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
