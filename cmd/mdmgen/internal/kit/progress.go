package kit

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how much of the work is done and how long the rest will take: a bar on a
// terminal, elsewhere a line now and then. It may be used by several goroutines.
type Progress struct {
	bar  *progressbar.ProgressBar
	line *progressLine
}

// NewProgress returns the progress of total tokens on standard error. show is false where
// a terminal shall show nothing, because the results share it.
func NewProgress(s Streams, total int, show bool) *Progress {
	return NewBar(s, total, show, "sampling", "tokens")
}

// NewBar is NewProgress for any work that is counted in a unit.
func NewBar(s Streams, total int, show bool, work, unit string) *Progress {
	count := func(n float64) string { return humanize.Comma(int64(n)) }
	return newProgress(s, int64(total), show, &progressLine{work: work, unit: " " + unit, count: count}, progressbar.OptionSetItsString(unit), progressbar.OptionShowIts())
}

// NewBytes is NewBar for what is counted in bytes.
func NewBytes(s Streams, total int64, work string) *Progress {
	count := func(n float64) string { return humanize.Bytes(uint64(n)) }
	return newProgress(s, total, true, &progressLine{work: work, count: count}, progressbar.OptionShowBytes(true))
}

// Watch returns what shows the bytes of one work after another, each with the total that it is
// begun with, and what removes the bar of the last.
func (s Streams) Watch() (begin func(work string, total int64) func(bytes int64), end func()) {
	bar := &Progress{}
	return func(work string, total int64) func(int64) {
		bar.Clear()
		bar = NewBytes(s, total, work)
		return func(n int64) { bar.Add(int(n)) }
	}, func() { bar.Clear() }
}

func newProgress(s Streams, total int64, show bool, line *progressLine, unit ...progressbar.Option) *Progress {
	switch {
	case s.Hushed() || total <= 0:
		return &Progress{}
	case !IsTerminal(s.Err) || os.Getenv("TERM") == "dumb":
		line.tell, line.total, line.begin = s.Notice, total, time.Now()
		line.told = line.begin
		return &Progress{line: line}
	case !show:
		return &Progress{}
	}
	return &Progress{bar: progressbar.NewOptions64(total, append(unit,
		progressbar.OptionSetWriter(s.Err),
		progressbar.OptionSetDescription(line.work),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetRenderBlankState(true), // at once, not at the first that is done
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)...)}
}

// Add counts n more.
func (p *Progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // A progress line that cannot be drawn is no failure.
	}
	if p.line != nil {
		p.line.add(n, time.Now())
	}
}

// Clear removes the bar.
func (p *Progress) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// lineEvery is the least time between two lines of progress.
const lineEvery = 10 * time.Second

// progressLine is progress where nothing can be drawn.
type progressLine struct {
	work, unit string
	count      func(float64) string
	tell       func(string)
	total      int64

	mu          sync.Mutex
	done        int64
	begin, told time.Time
}

// add counts n more, and tells where that was last done long ago.
func (p *progressLine) add(n int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += int64(n)
	if now.Sub(p.told) < lineEvery || p.done <= 0 || p.done >= p.total {
		return
	}
	p.told = now
	rate := float64(p.done) / now.Sub(p.begin).Seconds()
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second)).Round(time.Second)
	each := p.count(rate)
	if p.unit != "" {
		each = fmt.Sprintf("%.3g", rate)
	}
	p.tell(fmt.Sprintf("%s: %s of %s%s, %s/s, %v left", p.work, p.count(float64(p.done)), p.count(float64(p.total)), p.unit, each, left))
}

// IsTerminal tells whether w, one of the standard streams, is a terminal.
func IsTerminal(w any) bool {
	switch o := w.(type) {
	case *StandardOutput:
		w = o.W
	case interface{ Under() io.Reader }: // standard input, whose reads end with the context
		w = o.Under()
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
