package report

import (
	"math"
	"slices"

	"mdmgen/analysis/estimate"
)

// Plot is a picture: series of points with error bars. [Plot.Add] puts them there.
type Plot struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	LogX   bool     `json:"log_x,omitempty"`
	LogY   bool     `json:"log_y,omitempty"`
	Series []Series `json:"series"`
	// Caption carries fitted slopes with their intervals.
	Caption string `json:"caption,omitempty"`
}

// Series is a line of a plot.
type Series struct {
	Name string `json:"name"`
	// Style is how it is drawn; "" joins its points by lines where that means anything.
	Style  string  `json:"style,omitempty"`
	Points []Point `json:"points"`
}

// The styles of a series: a line without marks, in the colour of the series whose name it
// begins with; marks without a line; rings around points of other series.
const (
	StyleLine   = "line"
	StylePoints = "points"
	StyleMarks  = "marks"
)

// Point has a range where Lo < Hi.
type Point struct {
	X, Y   float64
	Lo, Hi float64 `json:",omitempty"`
}

// At is an estimate as a point.
func At(x float64, e estimate.Estimate) Point { return Point{X: x, Y: e.Mean, Lo: e.Lo, Hi: e.Hi} }

// Add appends a point to the series of a name, which it begins where there is none. A
// range without ends is left out, and so is a point that the axes cannot show.
func (p *Plot) Add(name, style string, at Point) {
	if !shows(at.X, p.LogX) || !shows(at.Y, p.LogY) {
		return
	}
	if !shows(at.Lo, false) || !shows(at.Hi, false) {
		at.Lo, at.Hi = 0, 0
	}
	i := slices.IndexFunc(p.Series, func(s Series) bool { return s.Name == name })
	if i < 0 {
		i = len(p.Series)
		p.Series = append(p.Series, Series{Name: name, Style: style})
	}
	p.Series[i].Points = append(p.Series[i].Points, at)
}

// Shown are those plots that have a point, in the memory of all.
func Shown(all ...Plot) []Plot {
	return slices.DeleteFunc(all, func(p Plot) bool { return len(p.Series) == 0 })
}

// shows says whether a number has a place on an axis. A logarithmic one shows
// 1e-100 to 1e100.
func shows(x float64, log bool) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && (!log || x >= 1e-100 && x <= 1e100)
}
