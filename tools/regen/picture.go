package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
)

// The picture's measures, in pixels, characters and seconds.
const (
	columns    = 88
	charWidth  = 8.43
	lineHeight = 22.0
	margin     = 22.0
	// head is the height of the command line above the text.
	head = 46.0
	// The text appears during run seconds and stands for hold seconds.
	run, hold = 7.0, 4.0
)

// cell is a token's piece on one line.
type cell struct {
	text      string
	line, col int
	hit       float64
}

// layOut breaks the text into lines of at most columns characters, before a
// token where that can be.
func layOut(tokens []token) (cells []cell, lines int) {
	line, col := 0, 0
	for _, t := range tokens {
		for i, part := range strings.Split(t.text, "\n") {
			if i > 0 {
				line, col = line+1, 0
			}
			n := utf8.RuneCountInString(part)
			if n == 0 {
				continue
			}
			if col+n > columns {
				line, col = line+1, 0
				part = strings.TrimPrefix(part, " ")
				n = utf8.RuneCountInString(part)
			}
			cells = append(cells, cell{part, line, col, t.hit})
			col += n
		}
	}
	return cells, line + 1
}

// picture draws the sample as an animated SVG: a box stands for a mask until the
// moment 1−λ at which First-Hitting revealed the position. A viewer that does
// not animate shows the finished text.
func picture(tokens []token) []byte {
	cells, lines := layOut(tokens)
	width := columns*charWidth + 2*margin
	height := head + float64(lines)*lineHeight + 2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="First-Hitting reveals a text of %d tokens, one by one">`+"\n",
		width, height, width, height, len(tokens))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="10" fill="#1b1f27"/>`+"\n")
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n")
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#8fd3a6">$ <tspan fill="#e8eaf0">go run ./cmd/mdmgen generate --seed %d</tspan></text>`+"\n", margin, margin+16, seed)
	for _, c := range cells {
		n := utf8.RuneCountInString(c.text)
		x, y := margin+float64(c.col)*charWidth, head+margin+float64(c.line)*lineHeight
		at := math.Round((1-c.hit)*run/(run+hold)*1e4) / 1e4
		fade := func(values string) string {
			return fmt.Sprintf(`<animate attributeName="opacity" calcMode="discrete" dur="%.0fs" repeatCount="indefinite" values="%s" keyTimes="0;%.4f"/>`, run+hold, values, at)
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="14" rx="3" fill="#3a4252" opacity="0">%s</rect>`, x+0.8, y-11, float64(n)*charWidth-1.6, fade("1;0"))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#e8eaf0" textLength="%.1f" xml:space="preserve">%s%s</text>`+"\n", x, y, float64(n)*charWidth, html.EscapeString(c.text), fade("0;1"))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}
