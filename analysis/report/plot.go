package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"io"
	"log"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgpdf" // the formats of Draw
	_ "gonum.org/v1/plot/vg/vgsvg"
)

// fontSize is the size of all texts, in points.
const fontSize = 10

var sans = font.Font{Typeface: "Liberation", Variant: "Sans", Size: fontSize}

// Draw draws the picture, width × height points (1/72 inch) in size, as "svg" or "pdf". The caption
// is not drawn; SVG has it as a description. It returns an error for a picture without a point, or
// another format.
func (p Plot) Draw(w io.Writer, format string, width, height float64) error {
	data, err := p.drawn(format, width, height, true)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// drawn returns a picture in a format, with or without its title.
func (p Plot) drawn(format string, width, height float64, titled bool) (data []byte, err error) {
	// Package vgpdf writes its fonts to a temporary folder, and logs and panics if it cannot.
	defer log.SetOutput(log.Writer())
	log.SetOutput(io.Discard)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("report: plot %s as %s: %v", p.Name, format, r)
		}
	}()
	c, err := draw.NewFormattedCanvas(vg.Length(width), vg.Length(height), format)
	var handler text.Handler = plot.DefaultTextHandler
	if format == "pdf" {
		handler = latinText{handler}
	}
	if err == nil {
		err = p.paint(draw.New(c), titled, handler)
	}
	if err != nil {
		return nil, fmt.Errorf("report: plot %s: %w", p.Name, err)
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil || format != "svg" {
		return b.Bytes(), err
	}
	head := fmt.Sprintf("<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(p.Title), html.EscapeString(p.says()))
	s := strings.Replace(b.String(), "<g ", head+"<g ", 1)
	s = strings.ReplaceAll(s, "font-family:Liberation Sans", "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	return []byte(strings.ReplaceAll(s, "\n\tstyle=\"\"", "")), nil
}

// paint draws the plot on a canvas, with the legend below the axes.
func (p Plot) paint(c draw.Canvas, titled bool, handler text.Handler) error {
	if len(p.Series) == 0 {
		return fmt.Errorf("there are no points to show")
	}
	out, legend := plot.New(), plot.NewLegend()
	for _, s := range []*text.Style{&out.Title.TextStyle, &out.X.Label.TextStyle, &out.Y.Label.TextStyle, &out.X.Tick.Label, &out.Y.Tick.Label, &legend.TextStyle} {
		s.Font, s.Handler = sans, handler
	}
	out.BackgroundColor = nil
	out.X.Label.Text, out.Y.Label.Text = p.X, p.Y
	if titled {
		out.BackgroundColor, out.Title.Text, out.Title.Padding = color.White, p.Title, 4
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
	}
	legend.Left, legend.Padding, legend.ThumbnailWidth = true, 2, 24
	c = draw.Crop(c, 4, -12, 4, -6)
	if p.Amounts {
		if err := p.addBars(out); err != nil {
			return err
		}
		out.Draw(c)
		return nil
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	out.Add(grid)
	looks := p.looks()
	for _, s := range p.Series {
		thumbs, err := p.add(out, s, looks[s.Name])
		if err != nil {
			return err
		}
		if p.parent(s) == "" && len(thumbs) > 0 {
			legend.Add(s.Name, thumbs...)
		}
	}
	logAxis(&out.X, p.LogX)
	logAxis(&out.Y, p.LogY)
	if !p.LogY && out.Y.Min > 0 && out.Y.Min < out.Y.Max/2 { // so that lengths are comparable
		out.Y.Min = 0
	}
	if slope, ok := p.slope(); ok {
		out.Add(slope)
		legend.Add("slope "+label(p.Guide), slope)
	}
	if placed := p.placed(); len(placed) > 1 || len(placed) == 1 && len(placed[0].Points) == 1 {
		legend.Draw(c)
		r := legend.Rectangle(c)
		c = draw.Crop(c, 0, 0, r.Max.Y-r.Min.Y+fontSize, 0)
	}
	out.Draw(nameAxes(c, out))
	return nil
}

// nameAxes draws the names of axes at their middles and returns the rest of the canvas. Package
// plot places the name of a logarithmic axis at the mean of its ends, and reserves space for half a
// name beyond its upper end.
func nameAxes(c draw.Canvas, out *plot.Plot) draw.Canvas {
	x, y := out.X.Label, out.Y.Label
	out.X.Label.Text, out.Y.Label.Text = "", ""
	left := draw.Crop(c, 1.3*fontSize, 0, 1.3*fontSize, 0)
	data := out.DataCanvas(left)
	middle := data.Center()
	c.FillText(x.TextStyle, vg.Point{X: middle.X, Y: c.Min.Y}, x.Text)
	y.TextStyle.Rotation += math.Pi / 2
	c.FillText(y.TextStyle, vg.Point{X: c.Min.X + fontSize, Y: middle.Y}, y.Text)
	return left
}

// logAxis makes an axis logarithmic and extends it to powers of ten, so that it has labels.
func logAxis(a *plot.Axis, log bool) {
	if !log {
		return
	}
	if math.IsInf(a.Min, 0) { // no value is drawn
		a.Min, a.Max = 1, 1
	}
	low, high := math.Floor(math.Log10(a.Min)), math.Ceil(math.Log10(a.Max))
	a.Min, a.Max = math.Pow(10, low), math.Pow(10, max(high, low+1))
	a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{labels: high-low <= 2}
}

// logTicks are the ticks of a logarithmic axis between powers of ten, with labels at 2 and 5 times
// powers if there are few. plot.LogTicks may exceed the axis by a power, and its ticks then take
// space.
type logTicks struct{ labels bool }

func (l logTicks) Ticks(least, most float64) (out []plot.Tick) {
	for power := math.Round(math.Log10(least)); power <= math.Round(math.Log10(most)); power++ {
		for lead := 1.0; lead < 10; lead++ {
			t := plot.Tick{Value: lead * math.Pow(10, power)}
			if lead == 1 || l.labels && (lead == 2 || lead == 5) {
				t.Label = label(t.Value)
			}
			if t.Value <= most {
				out = append(out, t)
			}
		}
	}
	return out
}

// add draws a series and returns its sample for the legend. Its line connects the points by
// increasing X; a series with equal X has no line.
func (p Plot) add(out *plot.Plot, s Series, l look) (thumbs []plot.Thumbnailer, err error) {
	points := slices.DeleteFunc(slices.Clone(s.Points), p.unplaced)
	if len(points) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	least := slices.MinFunc(points, func(a, b Point) int { return cmp.Compare(a.Y, b.Y) }).Y
	single := true
	var xys plotter.XYs
	var bars struct {
		plotter.XYs
		plotter.YErrors
	}
	for i, at := range points {
		xys = append(xys, plotter.XY{X: at.X, Y: at.Y})
		single = single && (i == 0 || at.X > points[i-1].X)
		if !ranged(at) {
			continue
		}
		if p.LogY { // An interval that reaches 0 or below ends a decade below the least value.
			at.Lo = max(at.Lo, least/10)
		}
		// Start at the lower end: far below the point, y − (y − lo) may be 0, which has no
		// logarithm.
		lo, hi := min(at.Lo, at.Y), max(at.Hi, at.Y)
		bars.XYs = append(bars.XYs, plotter.XY{X: at.X, Y: lo})
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{0, hi - lo})
	}
	if s.Style == StyleLine || s.Style == "" && single && len(xys) > 1 {
		line, err := plotter.NewLine(xys)
		if err != nil {
			return nil, err
		}
		line.LineStyle = l.line
		out.Add(line)
		thumbs = append(thumbs, line)
	}
	if s.Style != StyleLine {
		scatter, err := plotter.NewScatter(xys)
		if err != nil {
			return nil, err
		}
		scatter.GlyphStyle = l.glyph
		out.Add(scatter)
		thumbs = append(thumbs, scatter)
	}
	if len(bars.XYs) > 0 {
		e, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return nil, err
		}
		e.Color, e.Width, e.CapWidth = l.line.Color, 0.8, 3
		out.Add(e)
	}
	return thumbs, nil
}

// slope returns a line of the claimed slope through the highest point, false without a claim.
func (p Plot) slope() (*plotter.Function, bool) {
	most, first, last := 0.0, math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, at := range s.Points {
			if p.parent(s) == "" && at.Y > 0 {
				first, last = min(first, at.X), max(last, at.X)
				most = max(most, at.Y*math.Pow(at.X, -p.Guide))
			}
		}
	}
	f := plotter.NewFunction(func(x float64) float64 { return most * math.Pow(x, p.Guide) })
	f.XMin, f.XMax = first, last
	f.LineStyle = draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{1, 2}}
	return f, p.Guide != 0 && p.LogX && p.LogY && most > 0
}

// addBars draws a bar for each series, the first at the top.
func (p Plot) addBars(out *plot.Plot) error {
	n := len(p.Series)
	values, names := make(plotter.Values, n), make([]string, n)
	var ranges struct {
		plotter.XYs
		plotter.XErrors
	}
	for i, s := range p.Series {
		row, at := n-1-i, s.Points[0]
		values[row], names[row] = at.Y, s.Name
		if ranged(at) {
			ranges.XYs = append(ranges.XYs, plotter.XY{X: at.Y, Y: float64(row)})
			ranges.XErrors = append(ranges.XErrors, struct{ Low, High float64 }{min(at.Y-at.Lo, at.Y), at.Hi - at.Y})
		}
	}
	b, err := plotter.NewBarChart(values, 8)
	if err != nil {
		return err
	}
	b.Horizontal, b.Color, b.LineStyle.Width = true, palette[0], 0
	out.Add(b)
	if len(ranges.XYs) > 0 {
		e, err := plotter.NewXErrorBars(ranges)
		if err != nil {
			return err
		}
		out.Add(e)
	}
	out.NominalY(names...)
	out.X.Label.Text, out.Y.Label.Text = p.Y, ""
	return nil
}
