package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// amounts draws a bar for each series, the first above.
func (d drawing) amounts(out *plot.Plot, c draw.Canvas) error {
	names := make([]string, len(d.Series))
	most := 0.0
	for i, s := range d.Series {
		at, row := s.Points[0], float64(len(names)-1-i)
		names[len(names)-1-i] = s.Name
		b, err := plotter.NewBarChart(plotter.Values{at.Y}, min(9, (c.Max.Y-c.Min.Y-40)/vg.Length(len(names))*0.7))
		if err != nil {
			return fmt.Errorf("report: plot %s: %w", d.Name, err)
		}
		b.Horizontal, b.XMin, b.Color, b.LineStyle.Width = true, row, d.looks[s.Name].colour, 0
		out.Add(b)
		if most = max(most, at.Y); ranged(at) {
			line, _ := plotter.NewLine(plotter.XYs{{X: max(at.Lo, 0), Y: row}, {X: at.Hi, Y: row}})
			line.Color, line.Width = ink, 1
			out.Add(line)
			most = max(most, at.Hi)
		}
	}
	out.NominalY(names...)
	out.X.Label.Text, out.Y.Label.Text = d.Y, ""
	x := axis{low: 0, high: most * 1.04}
	if most == 0 {
		x.high = 1
	}
	x.set(&out.X)
	out.Y.Min, out.Y.Max = -0.6, float64(len(names))-0.4
	area := out.DataCanvas(c)
	x.spaced(&out.X, area.Max.X-area.Min.X, func(t string) vg.Length { return plain().Width(t) + 5 })
	out.Draw(c)
	return nil
}
