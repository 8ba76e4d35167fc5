package report

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette has the colours of Okabe and Ito (2008), which are distinguishable with every common
// colour blindness. Orange and sky are darker than theirs, so that every colour has a contrast of 3
// or more on white and on a dark page.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.Black, color.RGBA{0xb8, 0x78, 0x00, 0xff}, color.RGBA{0x3d, 0x9b, 0xd9, 0xff}, // colours similar to the first two are last
}

var (
	grey  = color.RGBA{0x80, 0x80, 0x80, 0xff}
	faint = color.NRGBA{0x80, 0x80, 0x80, 0x48}
)

// look is the style of a series: shape and dash repeat the information of the colour.
type look struct {
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// shift makes two series of the same colour differ in their marks.
var shift = 1 + len(plotutil.DefaultGlyphShapes) - len(palette)

// looks returns the styles of the series by name, numbered in the order of all plots shown
// together. A line that belongs to another series has its colour, thin and dotted.
func (p Plot) looks() map[string]look {
	out := make(map[string]look)
	for i, s := range p.named() {
		if at := slices.Index(p.order, s.Name); at >= 0 {
			i = at
		}
		c := palette[i%len(palette)]
		out[s.Name] = look{draw.LineStyle{Color: c, Width: 1.3, Dashes: plotutil.Dashes(i / len(palette))}, draw.GlyphStyle{Color: c, Radius: 2.6, Shape: plotutil.Shape(i + shift*(i/len(palette)))}}
	}
	for _, s := range p.Series {
		if of := p.parent(s); of != "" {
			out[s.Name] = look{line: draw.LineStyle{Color: out[of].line.Color, Width: 0.9, Dashes: []vg.Length{2, 2}}}
		}
	}
	return out
}

// named returns the series that do not belong to another.
func (p Plot) named() []Series {
	return slices.DeleteFunc(slices.Clone(p.Series), func(s Series) bool { return p.parent(s) != "" })
}

// placed returns the series in the legend, which have a point on the axes.
func (p Plot) placed() []Series {
	return slices.DeleteFunc(p.named(), func(s Series) bool {
		return !slices.ContainsFunc(s.Points, func(at Point) bool { return !p.unplaced(at) })
	})
}

// parent returns the name of the series that a line belongs to, with which its own name begins, ""
// if there is none.
func (p Plot) parent(s Series) string {
	if s.Style != StyleLine {
		return ""
	}
	for _, o := range p.Series {
		if o.Style != StyleLine && strings.HasPrefix(s.Name, o.Name+", ") {
			return o.Name
		}
	}
	return ""
}

// latinText draws texts in Latin letters and ASCII signs: PDF's fonts have no others.
type latinText struct{ text.Handler }

var latin = strings.NewReplacer("−", "-", "–", "-", "‖", "||", "…", "...", "·", "*", "≤", "<=", "√", "sqrt", "²", "^2", "₊", "+", "″", "''", "→", "->",
	"α", "alpha", "γ", "gamma", "δ", "delta", "ε", "epsilon", "λ", "lambda", "μ", "mu", "π", "pi", "τ", "tau", "Σ", "sum")

// Draw draws a text.
func (h latinText) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	h.Handler.Draw(c, latin.Replace(txt), sty, pt)
}
