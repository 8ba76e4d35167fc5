package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// colours are those of Okabe and Ito (2008) that show on white and on black: they can be told
// apart with every common colour blindness. Shapes and dashes say the same again.
var colours = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky
	color.RGBA{0x80, 0x80, 0x80, 0xff}, // grey
}

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
}

var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {4, 4}, {10, 3}, {1, 3}}

// row is the height of a line of the legend, in points.
const row = 13

// The resolution of PNG pictures, dots an inch.
const dpi = 192

// Draw draws the picture, width × height points (1/72 inch) in size, as "svg" or "png". An error
// bar that goes below 0 on a logarithmic axis ends there. The caption is not drawn. It is an
// error where there is no point, or the size or format is not one.
func (p Plot) Draw(w io.Writer, format string, width, height float64) error {
	if !(width >= 100 && width <= 5000 && height >= 100 && height <= 5000) {
		return fmt.Errorf("report: plot %s: %v × %v points: must be in 100..5000", p.Name, width, height)
	}
	switch format {
	case "svg":
		c := vgsvg.New(vg.Length(width), vg.Length(height))
		if err := drawPlot(draw.New(c), p, color.White); err != nil {
			return err
		}
		_, err := c.WriteTo(w)
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(vg.Length(width), vg.Length(height)), vgimg.UseDPI(dpi))
		if err := drawPlot(draw.New(c), p, color.White); err != nil {
			return err
		}
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	return fmt.Errorf("report: plot %s: format %q: must be svg or png", p.Name, format)
}

// inline is a plot as an element of a page: without a background or a size of its own, in the
// page's colour.
func inline(p Plot, width, height float64) (string, error) {
	var b bytes.Buffer
	c := vgsvg.New(vg.Length(width), vg.Length(height))
	if err := drawPlot(draw.New(c), p, color.Transparent); err != nil {
		return "", err
	}
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	s := b.String()
	if at := strings.Index(s, "<svg"); at > 0 {
		s = s[at:]
	}
	return strings.NewReplacer("#000000", "currentColor").Replace(s), nil
}

// drawPlot draws on a canvas: legend above, plot below.
func drawPlot(c draw.Canvas, p Plot, background color.Color) error {
	series := p.Series
	if len(series) == 0 {
		return fmt.Errorf("report: plot %s: there is no point to show", p.Name)
	}
	out := plot.New()
	out.BackgroundColor = nil // drawn below, under the legend too
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X, p.Y
	out.Title.Padding = vg.Points(4)
	for _, s := range []*font.Font{&out.Title.TextStyle.Font, &out.X.Label.TextStyle.Font, &out.Y.Label.TextStyle.Font, &out.X.Tick.Label.Font, &out.Y.Tick.Label.Font, &out.Legend.TextStyle.Font} {
		s.Variant, s.Size = "Sans", vg.Points(9)
	}
	out.Title.TextStyle.Font.Size = vg.Points(10)
	axes(out, p, series)

	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	out.Add(grid)
	legends := [2]plot.Legend{plot.NewLegend(), plot.NewLegend()}
	width := c.Max.X - c.Min.X
	rows := (len(series) + 1) / 2
	for _, s := range series {
		if out.Legend.TextStyle.Width(s.Name)+vg.Points(34) > width/2 {
			rows = len(series) // one column
		}
	}
	for i, s := range series {
		thumbs, err := add(out, p, s, looks(series, i))
		if err != nil {
			return fmt.Errorf("report: plot %s: %w", p.Name, err)
		}
		legends[i/rows].Add(s.Name, thumbs...)
	}
	if background != color.Transparent {
		c.SetColor(background)
		c.Fill(c.Rectangle.Path())
	}
	strip := vg.Points(row * float64(rows))
	lower := draw.Crop(c, 6, -10, 4, -strip-vg.Points(6))
	out.Draw(lower)
	for i := range legends {
		l := &legends[i]
		l.TextStyle, l.Top, l.Left, l.ThumbnailWidth, l.Padding = out.Legend.TextStyle, true, true, vg.Points(22), vg.Points(2)
		left := vg.Length(i) * width / 2
		l.Draw(draw.Crop(c, left+8, 0, 0, -4))
	}
	return nil
}

var faint = color.NRGBA{0x80, 0x80, 0x80, 0x48}

// bar is a point's range on the axes, false where it has none.
func bar(p Plot, at Point, floor float64) (lo, hi float64, ok bool) {
	if !(at.Lo < at.Hi) || math.IsInf(at.Hi, 0) || math.IsInf(at.Lo, 0) {
		return 0, 0, false
	}
	lo, hi = min(at.Lo, at.Y), max(at.Hi, at.Y)
	if p.LogY {
		lo, hi = max(lo, floor), min(hi, 1e100)
	}
	return lo, hi, lo <= at.Y
}

// add draws a series and returns its part of the legend.
func add(out *plot.Plot, p Plot, s Series, i int) ([]plot.Thumbnailer, error) {
	xys := make(plotter.XYs, len(s.Points))
	var bars errorBars
	for j, at := range s.Points {
		xys[j] = plotter.XY{X: at.X, Y: at.Y}
		if lo, hi, ok := bar(p, at, out.Y.Min); ok {
			bars.XYs = append(bars.XYs, xys[j])
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{at.Y - lo, hi - at.Y})
		}
	}
	scatter, err := plotter.NewScatter(xys)
	if err != nil {
		return nil, err
	}
	c := colours[i%len(colours)]
	scatter.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(2.4), Shape: shapes[(i+i/len(colours))%len(shapes)]}
	if s.Style == StyleMarks {
		scatter.GlyphStyle = draw.GlyphStyle{Color: colours[len(colours)-1], Radius: vg.Points(5), Shape: draw.RingGlyph{}}
	}
	thumbs := []plot.Thumbnailer{scatter}
	if (s.Style == "" && connected(p) || s.Style == StyleLine) && len(xys) > 1 {
		line, err := plotter.NewLine(xys)
		if err != nil {
			return nil, err
		}
		line.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.3), Dashes: dashes[(i+i/len(colours))%len(dashes)]}
		if s.Style == StyleLine {
			line.Width = vg.Points(0.8)
		}
		out.Add(line)
		if s.Style == StyleLine {
			return []plot.Thumbnailer{line}, nil
		}
		thumbs = []plot.Thumbnailer{line, scatter}
	}
	out.Add(scatter)
	if len(bars.XYs) > 0 {
		e, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return nil, err
		}
		e.Color, e.Width, e.CapWidth = c, vg.Points(0.8), vg.Points(3)
		out.Add(e)
	}
	return thumbs, nil
}

// looks is the number of the colour and shape of series i: its own place, or that of the series
// that it is a line to, which its name begins with.
func looks(series []Series, i int) int {
	if series[i].Style != StyleLine {
		return i
	}
	for j, s := range series {
		if s.Style != StyleLine && strings.HasPrefix(series[i].Name, s.Name+", ") {
			return j
		}
	}
	return i
}

type errorBars struct {
	plotter.XYs
	plotter.YErrors
}
