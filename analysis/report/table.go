package report

import (
	"bytes"
	"strings"

	"mdmgen/internal/printable"
)

// Table is a table of text. Columns from Numbers on are aligned to the right.
type Table struct {
	Title   string
	Head    []string
	Rows    [][]string
	Numbers int
}

// Markdown writes the table without its title.
func (t Table) Markdown(b *bytes.Buffer) {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, text := range row {
			width[i] = max(width[i], len([]rune(printable.Markdown(text))), 3)
		}
	}
	line := func(row []string) {
		for i, text := range row {
			text = printable.Markdown(text)
			pad := strings.Repeat(" ", width[i]-len([]rune(text)))
			if i < t.Numbers {
				text += pad
			} else {
				text = pad + text
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for i, n := range width {
		rule := strings.Repeat("-", n)
		if i >= t.Numbers {
			rule = rule[1:] + ":"
		}
		b.WriteString("| " + rule + " ")
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
}
