package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// numbers are the points of a picture.
func (p Plot) numbers() Table {
	t := Table{Head: []string{"series", p.X, p.Y}, Numbers: 1}
	if p.Amounts {
		t.Head = []string{"setting", p.Y}
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
	return t
}

// group is the statements whose names begin alike.
type group struct {
	Name  string
	Shown []Line
	// Vacuous are those that claim nothing here, Folded has their number.
	Vacuous []Line
	Folded  string
}

// groups keeps the order in which names appear. What lines behind each other state is said once.
func groups(lines []Line) (out []group) {
	for _, l := range lines {
		name := l.Name
		if n := strings.IndexAny(name, ". "); n > 0 {
			name = name[:n]
		}
		at := slices.IndexFunc(out, func(g group) bool { return g.Name == name })
		if at < 0 {
			at = len(out)
			out = append(out, group{Name: name})
		}
		list := &out[at].Shown
		if vacuous(l) {
			list = &out[at].Vacuous
		}
		*list = append(*list, l)
	}
	for i := range out {
		g := &out[i]
		once(g.Shown)
		once(g.Vacuous)
		switch n := len(g.Vacuous); n {
		case 0:
		case 1:
			g.Folded = "1 statement claims nothing here: its bound is infinite, or 1 for a probability"
		default:
			g.Folded = fmt.Sprintf("%d statements claim nothing here: their bounds are infinite, or 1 for a probability", n)
		}
	}
	return out
}

// once leaves out a statement that the line before has.
func once(lines []Line) {
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i].Statement == lines[i-1].Statement {
			lines[i].Statement = ""
		}
	}
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

// shownOutcomes is how many sequences of laws have a row on the page.
const shownOutcomes = 256

// lawTable is laws beside each other, a column each; more counts the sequences without a row.
func lawTable(list []Law) (t Table, more int) {
	outcomes, p, masked := LawTable(list)
	t = Table{Head: []string{"sequence"}, Numbers: 1}
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
	return t, max(0, len(outcomes)-shownOutcomes)
}
