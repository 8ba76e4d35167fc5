package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"mdmgen/internal/printable"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"mark":  mark,
	"said":  Said,
	"value": func(v Value) string { return strings.ReplaceAll(v.String(), ", ", ",\u00a0") }, // keeps an interval on one line
}).Parse(pageText))

// The size of a picture on the page, in points: the page makes it as wide as a column, and its text
// stays readable at the width of a telephone.
const (
	pictureWidth  = 280
	pictureHeight = 215
)

// Document is the content of a page, in this order after a [Card]; empty parts are omitted.
type Document struct {
	Title string
	// Notes explain the numbers; Unfinished is the reason if they cover only part of the work.
	Notes      []string
	Unfinished string
	Plots      []Plot
	Tables     []Table
	Lines      []Line
	Laws       []Law
	// Words explain the heads of columns; those of lines are added by Write.
	Words []Fact
	// Provenance, which may be nil, is shown as JSON; Data is stored in a script element of type
	// application/json. Both may be any values that marshal, and a [CardProvider] adds its part of the
	// card.
	Provenance, Data any
}

// content is the data of the template.
type content struct {
	Document
	Card       Card
	Counts     []Count
	Violated   []Line
	Groups     []group
	Figures    []figure
	Laws       Table
	More       int
	Provenance string
	// Data has <, > and & escaped by package json, so no tag can end inside it.
	Data template.JS
}

// figure is a picture with its numbers.
type figure struct {
	Name, Title, Says string
	SVG               template.HTML
	Numbers           Table
}

// Write writes a document as a self-contained HTML page: no script, no font, no other file. Its
// tables contain every number.
func Write(w io.Writer, d Document) error {
	data, err := json.Marshal(d.Data)
	if err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	c := content{Document: d, Card: d.card(), Counts: Counts(d.Lines), Groups: groups(d.Lines), Data: template.JS(data)}
	c.Words = slices.Concat(d.Words, lineWords(d.Lines))
	for _, l := range d.Lines {
		if !l.OK {
			c.Violated = append(c.Violated, l)
		}
	}
	if c.Figures, err = figures(d.Plots); err != nil {
		return err
	}
	if len(d.Laws) > 0 {
		c.Laws, c.More = lawTable(d.Laws)
	}
	if d.Provenance != nil {
		text, err := json.MarshalIndent(d.Provenance, "", "  ")
		if err != nil {
			return fmt.Errorf("report: page: provenance: %w", err)
		}
		c.Provenance = string(text)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, c); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	_, err = io.WriteString(w, printable.Text(b.String()))
	return err
}

func figures(plots []Plot) (out []figure, err error) {
	plots = slices.Clone(plots)
	alike(plots)
	for _, p := range plots {
		f := figure{Name: p.Name, Title: p.Title, Says: p.says(), Numbers: p.numbers()}
		if len(p.placed()) > 0 {
			svg, err := p.drawn("svg", pictureWidth, p.Height(pictureHeight), false)
			if err != nil {
				return nil, err
			}
			f.SVG = template.HTML(element(string(svg))) // made above, with escaped texts
		}
		out = append(out, f)
	}
	return out, nil
}

// element returns an SVG picture as an element of a page, in the page's colour.
func element(s string) string {
	if at := strings.Index(s, "<svg"); at > 0 {
		s = s[at:]
	}
	return strings.ReplaceAll(s, "#000000", "currentColor")
}
