package report

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The key stands to the right of a picture, its names in the order in which lines end there,
// each with a piece of its line: nobody has to search for it.
const (
	swatchWidth = 20
	keyGap      = 8
	// keyShare is the most of a picture's width that names take; longer ones are wrapped.
	keyShare = 0.34
)

// named are the series that the key names.
func (p Plot) named() []Series {
	return slices.DeleteFunc(slices.Clone(p.Series), func(s Series) bool { return p.parent(s) != "" })
}

// keyWidth is what the key takes of a picture's width; nothing where there is one series, which
// the axis names.
func (d drawing) keyWidth(width vg.Length) vg.Length {
	list := d.named()
	if len(list) < 2 {
		return 0
	}
	var most vg.Length
	for _, s := range list {
		for _, line := range wrapped(s.Name, keyShare*width) {
			most = max(most, plain().Width(line))
		}
	}
	return most + swatchWidth + 2*keyGap
}

// drawKey draws the key between the data's area and the end of the canvas. at is where a point is.
func (d drawing) drawKey(c, area draw.Canvas, at func(Point) vg.Point) {
	type entry struct {
		Series
		lines   []string
		end     vg.Point
		y, tall vg.Length
	}
	var list []entry
	var all vg.Length
	for _, s := range d.named() {
		last := slices.MaxFunc(s.Points, func(a, b Point) int {
			if a.X > b.X {
				return 1
			}
			return -1
		})
		e := entry{Series: s, lines: wrapped(s.Name, keyShare*(c.Max.X-c.Min.X)), end: at(last)}
		if s.Style == StyleMarks { // Rings are around points of others: they come last.
			e.end = area.Min
		}
		e.tall = vg.Length(len(e.lines))*(fontSize+1) + 3
		all += e.tall
		list = append(list, e)
	}
	if len(list) < 2 {
		return
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		if a.end.Y > b.end.Y {
			return -1
		}
		if a.end.Y < b.end.Y {
			return 1
		}
		return 0
	})
	// From above each comes below the one before, then from below each above the next.
	squeeze := min(1, (c.Max.Y-c.Min.Y)/all)
	top := c.Max.Y
	for i := range list {
		e := &list[i]
		e.tall *= squeeze
		e.y = min(e.end.Y, top-e.tall/2)
		top = e.y - e.tall/2
	}
	bottom := c.Min.Y
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		e.y = max(e.y, bottom+e.tall/2)
		bottom = e.y + e.tall/2
	}
	from := area.Max.X + keyGap
	for _, e := range list {
		l := d.looks[e.Name]
		if e.end.X > area.Max.X-(area.Max.X-area.Min.X)/6 {
			c.StrokeLine2(draw.LineStyle{Color: l.colour, Width: 0.5}, e.end.X, e.end.Y, from, e.y)
		}
		d.swatch(&c, e.Series, vg.Point{X: from, Y: e.y})
		for i, line := range e.lines {
			y := e.y + (vg.Length(len(e.lines))/2-vg.Length(i))*(fontSize+1)*squeeze - fontSize + 2
			c.FillText(plain(), vg.Point{X: from + swatchWidth + 4, Y: y}, line)
		}
	}
}

// swatch draws a piece of a series as wide as swatchWidth, whose left end is given.
func (d drawing) swatch(c *draw.Canvas, s Series, left vg.Point) {
	if s.Style == "" || s.Style == StyleLine {
		c.StrokeLine2(d.stroke(s), left.X, left.Y, left.X+swatchWidth, left.Y)
	}
	glyph := d.looks[s.Name].glyph()
	if s.Style == StyleMarks {
		glyph = rings
	}
	if s.Style != StyleLine {
		c.DrawGlyphNoClip(glyph, vg.Point{X: left.X + swatchWidth/2, Y: left.Y})
	}
}

// swatchElement is a swatch as an element of a page.
func (d drawing) swatchElement(s Series) (string, error) {
	canvas := vgsvg.New(swatchWidth, fontSize)
	canvas.SetColor(color.Black)
	c := draw.New(canvas)
	d.swatch(&c, s, vg.Point{Y: fontSize / 2})
	out, err := written(canvas)
	return element(out), err
}
