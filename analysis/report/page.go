package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/bound"
	"mdmgen/internal/printable"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"value": value, "number": label, "mark": mark, "right": func(i, from int) bool { return i >= from },
}).Parse(pageText))

// The size of a picture on the page, in points; the page scales it down on a narrow
// screen.
const (
	pictureWidth  = 310
	pictureHeight = 260
)

// Document is what a page shows, in this order; what is empty is left out.
type Document struct {
	Title string
	// Notes say what the numbers measure. Unfinished says that they are of a part of the work.
	Notes      []string
	Unfinished string
	Plots      []bound.Plot
	Tables     []Table
	Lines      []bound.Line
	Laws       []bound.Law
	// Provenance, which may be nil, is shown as JSON; Data is in a script element of type
	// application/json. Both are anything that marshals.
	Provenance, Data any
}

// Table is a table of text. Columns from Numbers on are aligned to the right.
type Table struct {
	Title   string
	Head    []string
	Rows    [][]string
	Numbers int
}

// Page writes a report as a page of HTML that needs nothing else: no script, no font, no file
// beside it. Every number is in its tables; the report and provenance, which may be nil or
// anything that marshals, are there as JSON in a script element of type application/json.
func Page(w io.Writer, r bound.Report, provenance any) error {
	r.Plots = presentable(r.Plots)
	d := Document{
		Title: titles[r.Mode], Notes: r.Notes, Plots: r.Plots, Lines: r.Lines, Laws: r.Laws, Provenance: provenance,
		Data: struct {
			bound.Report
			Provenance any `json:"provenance,omitempty"`
		}{r, provenance},
	}
	if d.Title == "" {
		d.Title = "mdmgen bound"
	}
	if r.Interrupted {
		d.Unfinished = "Interrupted: this is about what was done."
	}
	return Write(w, d)
}

// Write writes a document as a page; see [Page].
func Write(w io.Writer, d Document) error {
	data, err := json.Marshal(d.Data)
	if err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	content := struct {
		Document
		Judged     int
		Violated   []bound.Line
		Groups     []group
		Figures    []figure
		LawTable   lawTable
		Provenance string
		// Data has <, > and & escaped by package json, so that no tag ends inside it.
		Data template.JS
	}{Document: d, Groups: groups(d.Lines), LawTable: lawsOf(d.Laws), Data: template.JS(data)}
	for _, l := range d.Lines {
		if l.Verdict != "" {
			content.Judged++
		}
		if !l.OK {
			content.Violated = append(content.Violated, l)
		}
	}
	for _, p := range presentable(d.Plots) {
		f := figure{Plot: p, Bars: hasBars(p)}
		if len(drawable(p)) > 0 {
			svg, err := inline(p, pictureWidth, pictureHeight)
			if err != nil {
				return err
			}
			f.SVG = template.HTML(svg) // made above; its texts are escaped by vgsvg
		}
		content.Figures = append(content.Figures, f)
	}
	if d.Provenance != nil {
		text, err := json.MarshalIndent(d.Provenance, "", "  ")
		if err != nil {
			return fmt.Errorf("report: page: provenance: %w", err)
		}
		content.Provenance = string(text)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, content); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	_, err = io.WriteString(w, printable.Text(b.String()))
	return err
}

var titles = map[string]string{
	"world": "The paper’s statements on a world",
	"text":  "The KL bound on a text",
	"chain": "The KL bound on the network’s own left-to-right chain",
	"own":   "The entropy of first-hitting’s own law",
	"plan":  "The collision bound of plans",
}

// shownOutcomes is how many sequences of laws have a row on the page.
const shownOutcomes = 256

// lawTable is laws beside each other, a column each.
type lawTable struct {
	Names []string
	Rows  []lawRow
	// More counts the sequences without a row.
	More int
}

type lawRow struct {
	Outcome string
	P       []float64
}

func lawsOf(list []bound.Law) lawTable {
	var out lawTable
	outcomes, p, masked := bound.Table(list)
	for _, l := range list {
		out.Names = append(out.Names, l.Name)
	}
	for i, o := range outcomes {
		if i == shownOutcomes {
			out.More = len(outcomes) - i
			break
		}
		out.Rows = append(out.Rows, lawRow{o, p[i]})
	}
	if slices.ContainsFunc(masked, func(x float64) bool { return x != 0 }) {
		out.Rows = append(out.Rows, lawRow{"with masks", masked})
	}
	return out
}

// figure is a picture with its numbers.
type figure struct {
	Plot bound.Plot
	SVG  template.HTML
	Bars bool
}

// group is a table of lines whose names begin alike.
type group struct {
	Name  string
	Lines []bound.Line
}

// groups keeps the order in which names appear.
func groups(lines []bound.Line) []group {
	var out []group
	at := make(map[string]int)
	for _, l := range lines {
		name := l.Name
		if n := strings.IndexAny(name, ". "); n > 0 {
			name = name[:n]
		}
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, group{Name: name})
		}
		out[i].Lines = append(out[i].Lines, l)
	}
	return out
}

// presentable leaves out points that are not numbers, which JSON cannot hold.
func presentable(all []bound.Plot) []bound.Plot {
	var plots []bound.Plot
	for _, p := range all {
		var series []bound.Series
		for _, s := range p.Series {
			keep := s
			keep.Points = nil
			for _, at := range s.Points {
				if shows(at.X, false) && shows(at.Y, false) {
					if !shows(at.Lo, false) || !shows(at.Hi, false) {
						at.Lo, at.Hi = 0, 0
					}
					keep.Points = append(keep.Points, at)
				}
			}
			series = append(series, keep)
		}
		p.Series = series
		plots = append(plots, p)
	}
	return plots
}

func hasBars(p bound.Plot) bool {
	for _, s := range p.Series {
		for _, at := range s.Points {
			if at.Lo < at.Hi {
				return true
			}
		}
	}
	return false
}

// value writes a number, with its interval where it is an estimate.
func value(v bound.Value) string {
	if math.IsNaN(v.Mean) {
		return "–"
	}
	out := infinite(v.Mean)
	switch v.Bound {
	case "upper":
		out = "≤ " + out
	case "lower":
		out = "≥ " + out
	}
	if !v.Exact {
		out += fmt.Sprintf(" [%s, %s]", infinite(v.Lo), infinite(v.Hi))
	}
	return out
}

func infinite(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	case math.IsNaN(x):
		return "–"
	}
	return label(x)
}

// mark says in a word what a line's verdict amounts to, for its colour.
func mark(l bound.Line) string {
	switch {
	case !l.OK:
		return "violated"
	case l.Verdict == "":
		return "none"
	case strings.HasPrefix(l.Verdict, "not resolved"):
		return "open"
	}
	return "holds"
}
