package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// grid is the one form of a table on a page.
type grid struct {
	// Kind is "statements" for those, whose columns are as wide in every table.
	Kind string
	Head []cell
	Rows [][]cell
}

// cell is a text; Code stands before it as an identifier, Class is its style, and Key names its
// column where the screen has no room for columns.
type cell struct{ Code, Text, Class, Key string }

// table is a table of text as a grid.
func (t Table) grid() grid {
	var out grid
	class := func(i int) string {
		if i >= t.Numbers {
			return "n"
		}
		return ""
	}
	for i, text := range t.Head {
		out.Head = append(out.Head, cell{Text: text, Class: class(i)})
	}
	for _, row := range t.Rows {
		var cells []cell
		for i, text := range row {
			cells = append(cells, cell{Text: text, Class: class(i)})
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// numbers are the points of a picture.
func (p Plot) numbers() grid {
	t := Table{Head: []string{"series", p.X, p.Y}, Numbers: 1}
	if p.Amounts {
		t.Head = []string{"", p.Y}
	}
	bars := p.some(ranged)
	if bars {
		t.Head = append(t.Head, "from", "to")
	}
	for _, s := range p.Series {
		for _, at := range s.Points {
			row := []string{s.Name, label(at.X), label(at.Y)}
			if p.Amounts {
				row = slices.Delete(row, 1, 2)
			}
			switch {
			case ranged(at):
				row = append(row, label(at.Lo), label(at.Hi))
			case bars:
				row = append(row, "", "")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t.grid()
}

// group is the statements whose names begin alike.
type group struct {
	Name, Counts string
	Shown        grid
	// Vacuous are those that claim nothing here, Folded has their number.
	Vacuous grid
	Folded  string
}

// groups keeps the order in which names appear.
func groups(lines []Line) []group {
	var names []string
	of := make(map[string][]Line)
	for _, l := range lines {
		name := l.Name
		if n := strings.IndexAny(name, ". "); n > 0 {
			name = name[:n]
		}
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], l)
	}
	var out []group
	for _, name := range names {
		var shown, folded []Line
		for _, l := range of[name] {
			if vacuous(l) {
				folded = append(folded, l)
			} else {
				shown = append(shown, l)
			}
		}
		g := group{Name: name, Shown: statements(shown), Vacuous: statements(folded)}
		switch n := len(folded); n {
		case 0:
		case 1:
			g.Folded = "1 statement claims nothing here: its bound is infinite, or 1 for a probability"
		default:
			g.Folded = fmt.Sprintf("%d statements claim nothing here: their bounds are infinite, or 1 for a probability", n)
		}
		out = append(out, g)
	}
	return out
}

// vacuous reports whether a line bounds nothing: by infinity, or a probability by 1 or more. What is
// violated is never.
func vacuous(l Line) bool {
	if !l.OK || math.IsNaN(l.Right.Mean) || l.Right.Bound == "lower" {
		return false
	}
	bounds := l.Right.Bound == "upper" || strings.HasPrefix(l.Verdict, "holds")
	share := l.Unit == "probability" || l.Unit == "TV"
	return bounds && math.IsInf(l.Right.Mean, 1) || share && (l.Right.Mean > 1 || bounds && l.Right.Mean > 1-1e-9)
}

// statements are lines as a grid. A statement is said once for those that share it.
func statements(lines []Line) grid {
	out := grid{Kind: "statements"}
	for i, name := range []string{"statement", "left", "right", "right − left", "unit", "verdict"} {
		h := cell{Text: name}
		if i >= 1 && i <= 3 {
			h.Class = "n"
		}
		out.Head = append(out.Head, h)
	}
	text := func(v Value) string { return strings.ReplaceAll(v.String(), ", ", ",\u00a0") } // an interval is on one line
	before := ""
	for _, l := range lines {
		statement := l.Statement
		if statement == before {
			statement = ""
		}
		before = l.Statement
		verdict := l.Verdict
		if verdict == "" {
			verdict = "no verdict"
		}
		out.Rows = append(out.Rows, []cell{
			{Code: l.Name, Text: statement, Class: "what"}, {Text: text(l.Left), Class: "n", Key: "left"}, {Text: text(l.Right), Class: "n", Key: "right"},
			{Text: text(l.Gap), Class: "n", Key: "right − left"}, {Text: l.Unit, Key: "unit"}, {Text: verdict, Class: "verdict " + mark(l), Key: "verdict"},
		})
	}
	return out
}

// shownOutcomes is how many sequences of laws have a row on the page.
const shownOutcomes = 256

// lawGrid is laws beside each other, a column each; more counts the sequences without a row.
func lawGrid(list []Law) (g grid, more int) {
	outcomes, p, masked := LawTable(list)
	t := Table{Head: []string{"sequence"}, Numbers: 1}
	for _, l := range list {
		t.Head = append(t.Head, l.Name)
	}
	add := func(name string, p []float64) {
		row := []string{name}
		for _, x := range p {
			row = append(row, label(x))
		}
		t.Rows = append(t.Rows, row)
	}
	for i, o := range outcomes[:min(len(outcomes), shownOutcomes)] {
		add(o, p[i])
	}
	if slices.ContainsFunc(masked, func(x float64) bool { return x != 0 }) {
		add("with masks", masked)
	}
	return t.grid(), max(0, len(outcomes)-shownOutcomes)
}
