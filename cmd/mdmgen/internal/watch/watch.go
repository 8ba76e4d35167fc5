// Package watch shows canvases on the terminal while they fill: redrawn in place below the existing
// text, in the normal buffer. It moves the cursor but does not hide it, so that the terminal works
// however the program ends.
package watch

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/printable"
	"mdmgen/serve/frame"
)

// every is the time between two pictures. Nobody reads more than ten per second.
const every = 100 * time.Millisecond

// Screen is the part of the terminal that shows canvases.
type Screen struct {
	out  *kit.StandardOutput
	size func() (columns, rows int)
	view Picture

	mu sync.Mutex
	// drawn holds the widths of the lines on the terminal, which was columns wide; changed reports
	// whether they are outdated.
	drawn   []int
	changed bool
	columns int
	// held is set while something else is printed, until the next frame.
	held bool
	stop chan struct{}
	done sync.WaitGroup
}

// Options configures a [Screen].
type Options struct {
	// Confidence colours tokens by the probability with which they were drawn.
	Confidence bool
	Seed       uint64
	// Skip is the number of positions at the beginning that are not shown.
	Skip int
	// Expected returns the number of calls of a sequence, exactly or at most.
	Expected func(sequence uint64) (calls float64, atMost bool)
}

// Open begins to show as many canvases as the terminal of standard output has room for. If nothing
// can be shown it returns nil and the reason.
func Open(s kit.Streams, o Options) (screen *Screen, why string) {
	columns, rows := kit.Size(s.Out)
	switch {
	case columns == 0:
		return nil, "standard output is not a terminal"
	case os.Getenv("TERM") == "dumb":
		return nil, "the terminal, TERM=dumb, cannot move its cursor"
	case columns < 16 || rows < 3:
		return nil, "the terminal has less than 16 columns or 3 rows"
	}
	w := &Screen{out: s.Out, size: func() (int, int) { return kit.Size(s.Out) }, view: Picture{Options: o}, stop: make(chan struct{})}
	s.Out.Before(w.yield)
	w.start()
	return w, ""
}

// start begins to draw changes at intervals, until stop is closed.
func (w *Screen) start() {
	stop := w.stop // Close clears the field.
	w.done.Go(func() {
		for tick := time.Tick(every); ; {
			select {
			case <-stop:
				return
			case <-tick:
				w.mu.Lock()
				if columns, _ := w.size(); !w.held && (w.changed || columns != w.columns) {
					w.draw()
				}
				w.mu.Unlock()
			}
		}
	})
}

// Frame applies a frame. A nil Screen ignores it.
func (w *Screen) Frame(f frame.Frame) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view.Frame(f)
	w.changed, w.held = true, false
}

// yield removes the picture before something else is printed.
func (w *Screen) yield() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.print(w.erased())
	w.held, w.changed = true, true
}

// Close stops drawing. Coloured canvases remain in their final state; others are removed, because
// the results show them. Close does nothing on a nil or closed Screen.
func (w *Screen) Close() {
	if w == nil || w.stop == nil {
		return
	}
	close(w.stop)
	w.stop = nil
	w.done.Wait()
	w.out.Before(nil)
	if w.view.Confidence && len(w.view.panes) > 0 {
		w.draw()
		w.print("\n")
		return
	}
	w.print(w.erased())
}

// draw replaces the picture, in one update if the terminal supports that.
func (w *Screen) draw() {
	columns, rows := w.size()
	if columns <= 0 || rows <= 0 {
		return
	}
	w.columns, w.changed = columns, false
	erased := w.erased()
	lines := w.view.Lines(columns, rows)
	for _, line := range lines {
		w.drawn = append(w.drawn, ansi.StringWidth(line))
	}
	w.print(ansi.SetModeSynchronizedOutput + erased + strings.Join(lines, "\r\n") + ansi.ResetModeSynchronizedOutput)
}

// erased returns the text that removes the picture. A terminal that became narrower has wrapped its
// lines.
func (w *Screen) erased() string {
	if len(w.drawn) == 0 {
		return ""
	}
	columns, rows := w.size()
	above := -1
	for _, width := range w.drawn {
		above += 1 + max(width-1, 0)/max(columns, 1)
	}
	w.drawn = nil
	up := ""
	if above = min(above, rows-1); above > 0 {
		up = ansi.CursorUp(above)
	}
	return "\r" + up + ansi.EraseScreenBelow
}

// print writes to the terminal. It ignores errors: printing the results reports them.
func (w *Screen) print(text string) { _, _ = io.WriteString(w.out.W, text) }

// Picture is what a [Screen] shows: canvases side by side, a legend and a line of numbers.
type Picture struct {
	Options
	panes []*pane
}

// pane shows a sequence. A finished one is removed when another sequence begins.
type pane struct {
	sequence uint64
	canvas   frame.Canvas
	// shown is the last call in the previous picture, and since the last in the one before. Tokens
	// of calls after since are fresh.
	since, shown int
	// expected is the number of calls of the sequence, exactly or at most.
	expected float64
	atMost   bool
}

// minWidth is the minimum width of a canvas next to others, gap the number of blanks between two.
const (
	minWidth = 24
	gap      = 2
)

// Frame applies a frame.
func (v *Picture) Frame(f frame.Frame) {
	at := slices.IndexFunc(v.panes, func(p *pane) bool { return p.sequence == f.Sequence })
	if at < 0 {
		v.panes = slices.DeleteFunc(v.panes, func(p *pane) bool { return p.canvas.Done })
		at = len(v.panes)
		calls, atMost := v.Expected(f.Sequence)
		v.panes = append(v.panes, &pane{sequence: f.Sequence, expected: calls, atMost: atMost})
	}
	v.panes[at].canvas.Apply(f)
}

// Lines returns the lines of a picture for a terminal. It leaves the last column and a row for the shell empty.
func (v *Picture) Lines(columns, rows int) []string {
	width := columns - 1
	status := []string{ansi.Truncate(v.status(), width, "…")}
	if rows >= 8 {
		status = append([]string{ansi.Truncate(v.legend(), width, "…")}, status...)
	}
	n := min(len(v.panes), max(1, (width+gap)/(minWidth+gap)))
	if n == 0 {
		return status
	}
	each := (width+gap)/n - gap
	var body []string
	for i, p := range v.panes[:n] {
		drawn := p.lines(v.Skip, each, max(1, rows-1-len(status)), v.Confidence)
		for len(body) < len(drawn) {
			body = append(body, "")
		}
		for row, line := range drawn {
			body[row] += strings.Repeat(" ", max(0, i*(each+gap)-ansi.StringWidth(body[row]))) + line
		}
	}
	return append(body, status...)
}

// The glyphs of masks, of positions masked again, and of newlines in a text.
const (
	masked = "·"
	again  = "×"
	newly  = "↵"
)

var (
	quiet = ansi.NewStyle().Faint()
	fresh = ansi.NewStyle().Bold().Underline(true)
)

// lines returns as many lines of a canvas as there is room for, around the newest token, without its
// first positions.
func (p *pane) lines(skip, width, rows int, confidence bool) []string {
	if p.canvas.Calls != p.shown {
		p.since, p.shown = p.shown, p.canvas.Calls
	}
	lines, column, last := []string{""}, 0, 0
	put := func(text string, style ansi.Style) {
		for text != "" {
			cluster, n := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			if text = text[len(cluster):]; column+n > width {
				lines, column = append(lines, ""), 0
			}
			lines[len(lines)-1] += style.Styled(cluster)
			column += n
		}
	}
	for _, c := range p.canvas.Cells[min(skip, len(p.canvas.Cells)):] {
		isNew := c.Call > p.since
		switch {
		case c.Masked && c.Call > 0:
			put(again, nil)
		case c.Masked:
			put(masked, quiet)
		default:
			style := styleOf(c, isNew, confidence)
			for i, line := range strings.Split(c.Piece, "\n") {
				if i > 0 {
					put(newly, quiet)
					lines, column = append(lines, ""), 0
				}
				put(printable.String(line), style)
			}
		}
		if isNew && c.Call >= p.canvas.Calls {
			last = len(lines) - 1
		}
	}
	from := min(max(0, last-rows/2), max(0, len(lines)-rows))
	return lines[from:min(len(lines), from+rows)]
}

// bins holds the probabilities at which the colours of tokens change. The colours are five of
// Cividis, whose order people with any colour vision see alike, each with black or white, whichever
// is readable on it.
var bins = []struct {
	below      float64
	name       string
	background ansi.IndexedColor
	letters    ansi.IndexedColor
}{{0.1, "<0.1", 17, 231}, {0.3, "<0.3", 60, 231}, {0.6, "<0.6", 242, 231}, {0.9, "<0.9", 143, 16}, {math.Inf(1), "≥0.9", 227, 16}}

func styleOf(c frame.Cell, isNew, confidence bool) ansi.Style {
	var style ansi.Style
	if isNew {
		style = slices.Clone(fresh)
	}
	if confidence && c.Call > 0 {
		for _, b := range bins {
			if math.Exp(c.LogP) < b.below {
				return style.ForegroundColor(b.letters).BackgroundColor(b.background)
			}
		}
	}
	return style
}

func (v *Picture) legend() string {
	line := quiet.Styled(masked) + " masked  " + fresh.Styled("new") + "  " + again + " masked again"
	if v.Confidence {
		line += "  p "
		for _, b := range bins {
			line += ansi.NewStyle().ForegroundColor(b.letters).BackgroundColor(b.background).Styled(" " + b.name + " ")
		}
	}
	return line
}

// status returns a line of sums over all panes.
func (v *Picture) status() string {
	if len(v.panes) == 0 {
		return fmt.Sprintf("waiting for the first call · seed %d", v.Seed)
	}
	var calls, drawn, left int
	var logP, expected float64
	of := " of "
	for _, p := range v.panes {
		calls, drawn, left, logP = calls+p.canvas.Calls, drawn+p.canvas.Drawn, left+p.canvas.Masked, logP+p.canvas.LogP
		if expected += p.expected; p.atMost {
			of = " of ≤ "
		}
	}
	parts := []string{fmt.Sprintf("call %d%s%.4g", calls, of, expected), fmt.Sprintf("%d masked", left)}
	if drawn > 0 {
		parts = append(parts, fmt.Sprintf("%.3g tokens a call", float64(drawn)/float64(max(calls, 1))), fmt.Sprintf("mean log p %.2f", logP/float64(drawn)))
	}
	parts = append(parts, fmt.Sprintf("seed %d", v.Seed))
	if len(v.panes) > 1 {
		parts = append(parts, fmt.Sprintf("%d samples", len(v.panes)))
	}
	return strings.Join(parts, " · ")
}
