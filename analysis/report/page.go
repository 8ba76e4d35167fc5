package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"mdmgen/internal/printable"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// The size of a picture on the page, in points: the page makes it as wide as a column, and
// the text of it stays readable where that is the width of a telephone.
const (
	pictureWidth  = 380
	pictureHeight = 260
	panelWidth    = 340
)

// Document is what a page shows, in this order below a [Card]; what is empty is left out.
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
	// application/json. Both are anything that marshals, and a [Carder] tells its part of the card.
	Provenance, Data any
}

// content is what the template shows.
type content struct {
	Document
	Card       Card
	Counts     []Count
	Violated   []Line
	Groups     []group
	Sheets     []sheet
	Grids      []titled
	Laws       grid
	More       int
	Words      []Fact
	Provenance string
	// Data has <, > and & escaped by package json, so that no tag ends inside it.
	Data template.JS
}

type titled struct {
	Title string
	Grid  grid
}

// sheet is a picture, or several with one key.
type sheet struct {
	Title   string
	Key     []swatch
	Figures []figure
}

type swatch struct {
	SVG  template.HTML
	Name string
}

// figure is a picture with its numbers.
type figure struct {
	Name, Title, Says string
	SVG               template.HTML
	Numbers           grid
}

// Write writes a document as a page of HTML that needs nothing else: no script, no font, no file
// beside it. Every number is in its tables.
func Write(w io.Writer, d Document) error {
	data, err := json.Marshal(d.Data)
	if err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	c := content{Document: d, Card: d.card(), Counts: Counts(d.Lines), Groups: groups(d.Lines), Data: template.JS(data)}
	for _, l := range d.Lines {
		if !l.OK {
			c.Violated = append(c.Violated, l)
		}
	}
	if c.Sheets, err = sheets(d.Plots); err != nil {
		return err
	}
	for _, t := range d.Tables {
		c.Grids = append(c.Grids, titled{t.Title, t.grid()})
	}
	if len(d.Laws) > 0 {
		c.Laws, c.More = lawGrid(d.Laws)
	}
	c.Words = words(d.text())
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

// text is what a document says in words.
func (d Document) text() string {
	parts := append([]string{d.Title, d.card().Result}, d.Notes...)
	for _, p := range d.Plots {
		parts = append(parts, p.Title, p.X, p.Y, p.Caption)
	}
	for _, t := range d.Tables {
		parts = append(append(parts, t.Title), t.Head...)
	}
	for _, l := range d.Lines {
		parts = append(parts, l.Statement)
	}
	return strings.Join(parts, "\n")
}

// sheets draws pictures; those of one facet are together.
func sheets(plots []Plot) ([]sheet, error) {
	var out []sheet
	for len(plots) > 0 {
		n := 1
		for n < len(plots) && plots[0].Facet != "" && plots[n].Facet == plots[0].Facet {
			n++
		}
		s, err := oneSheet(plots[:n])
		if err != nil {
			return nil, err
		}
		out, plots = append(out, s), plots[n:]
	}
	return out, nil
}

func oneSheet(plots []Plot) (sheet, error) {
	out := sheet{Title: plots[0].Facet}
	d := drawing{looks: looksOf(plots...), key: len(plots) == 1}
	width := float64(pictureWidth)
	if !d.key {
		width = panelWidth
		seen := make(map[string]bool)
		for _, p := range plots {
			d.Plot = p
			for _, s := range p.named() {
				if !seen[s.Name] {
					seen[s.Name] = true
					svg, err := d.swatchElement(s)
					if err != nil {
						return out, err
					}
					out.Key = append(out.Key, swatch{template.HTML(svg), s.Name})
				}
			}
		}
	}
	for _, p := range plots {
		d.Plot = p
		f := figure{Name: p.Name, Title: p.Title, Says: p.says(), Numbers: p.numbers()}
		if len(p.Series) > 0 {
			height := float64(pictureHeight)
			if d.key {
				height = p.Height(height)
			}
			svg, err := d.svg(width, height)
			if err != nil {
				return out, err
			}
			f.SVG = template.HTML(element(svg)) // made above; its texts are escaped
		}
		out.Figures = append(out.Figures, f)
	}
	return out, nil
}
