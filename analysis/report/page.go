package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

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
	Plots      []Plot
	Tables     []Table
	Lines      []Line
	Laws       []Law
	// Provenance, which may be nil, is shown as JSON; Data is in a script element of type
	// application/json. Both are anything that marshals.
	Provenance, Data any
}

// Write writes a document as a page of HTML that needs nothing else: no script, no font, no file
// beside it. Every number is in its tables.
func Write(w io.Writer, d Document) error {
	data, err := json.Marshal(d.Data)
	if err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	content := struct {
		Document
		Judged     int
		Violated   []Line
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
	for _, p := range d.Plots {
		f := figure{Plot: p, Bars: hasBars(p)}
		if len(p.Series) > 0 {
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

// figure is a picture with its numbers.
type figure struct {
	Plot Plot
	SVG  template.HTML
	Bars bool
}

func hasBars(p Plot) bool {
	for _, s := range p.Series {
		for _, at := range s.Points {
			if at.Lo < at.Hi {
				return true
			}
		}
	}
	return false
}
