package replay

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"

	"mdmgen/internal/printable"
	"mdmgen/serve/frame"
)

// The sizes of a character, a line and the margin, in pixels.
const (
	charWidth  = 8.4
	lineHeight = 22
	margin     = 20
	// lineChars is the number of characters per line.
	lineChars = 84
)

// The durations of a call, the minimum and maximum for all calls, and of the finished text.
const (
	callSeconds = 0.12
	minSeconds  = 4
	maxSeconds  = 16
	restSeconds = 3
)

// picture writes the first sequence of each run as an animated picture: a token appears with the
// call that revealed it last. Viewers who prefer reduced motion see the finished texts.
func picture(w io.Writer, runs []*run) error {
	var body, keys strings.Builder
	var names []string
	y, calls := float64(margin)/2, 1
	for _, r := range runs {
		calls = max(calls, r.canvas.Calls)
	}
	moving := min(max(callSeconds*float64(calls), minSeconds), maxSeconds)
	shown := make(map[int]bool) // calls that revealed something
	for _, r := range runs {
		y += lineHeight
		title := fmt.Sprintf("%s: %s, log-probability %.1f", r.Name, english.Plural(r.canvas.Calls, "call", ""), r.canvas.LogP)
		fmt.Fprintf(&body, "<text class=\"h\" x=\"%d\" y=\"%.1f\">%s</text>\n", margin, y-lineHeight/3, html.EscapeString(title))
		y = r.draw(&body, shown, y) + lineHeight/2
		names = append(names, title)
	}
	for _, call := range slices.Sorted(maps.Keys(shown)) {
		at := 100 * moving / (moving + restSeconds) * float64(call) / float64(calls+1)
		fmt.Fprintf(&keys, "@keyframes k%d{0%%{opacity:0}%.2f%%,100%%{opacity:1}}@keyframes m%[1]d{0%%{opacity:1}%.2[2]f%%,100%%{opacity:0}}.k%[1]d{animation-name:k%[1]d}.m%[1]d{animation-name:m%[1]d}\n", call, at)
	}
	_, err := fmt.Fprintf(w, pictureText, margin*2+lineChars*charWidth, y, html.EscapeString(strings.Join(names, "; ")), moving+restSeconds, keys.String(), body.String())
	return err
}

// pictureText is a format for the width, height, label, seconds, frames by call, and texts. Without motion
// it shows the final state.
//
//go:embed picture.svg
var pictureText string

// draw draws the tokens of a run from y on, and returns the y below them.
func (r *run) draw(b *strings.Builder, shown map[int]bool, y float64) float64 {
	y += lineHeight / 2
	column := 0
	put := func(text string, c frame.Cell) {
		n := ansi.StringWidth(text)
		if column+n > lineChars && column > 0 {
			column, y = 0, y+lineHeight
		}
		x, width := margin+charWidth*float64(column), charWidth*float64(n)
		column += n
		class := "g"
		switch {
		case c.Masked:
			fmt.Fprintf(b, "<rect class=\"t\" style=\"animation:none;opacity:1\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" rx=\"3\"/>", x+1, y-11, width-2)
			return
		case c.Call > 0:
			shown[c.Call] = true
			class = fmt.Sprintf("t k%d", c.Call)
			if bar := charWidth * float64(ansi.StringWidth(strings.TrimLeft(text, " "))); bar > 0 {
				fmt.Fprintf(b, "<rect class=\"t m%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" rx=\"3\"/>", c.Call, x+width-bar+1, y-11, bar-2)
			}
		}
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(b, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" xml:space=\"preserve\">%s</text>\n", class, x, y, width, html.EscapeString(text))
		}
	}
	for _, c := range r.canvas.Cells {
		for i, line := range strings.Split(pieceOf(c), "\n") {
			if i > 0 {
				column, y = 0, y+lineHeight
			}
			if line != "" {
				put(printable.String(line), c)
			}
		}
	}
	return y + lineHeight/2
}
