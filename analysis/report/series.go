package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
)

// Plot is a picture: series of points with error bars. [Plot.Add] adds points.
type Plot struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	LogX   bool     `json:"log_x,omitempty"`
	LogY   bool     `json:"log_y,omitempty"`
	Series []Series `json:"series"`
	// Caption explains the picture.
	Caption string `json:"caption,omitempty"`
	// Bars describes the ranges of points ([Intervals]).
	Bars string `json:"bars,omitempty"`
	// Guide is an exponent: a line ∝ X^Guide shows the claimed slope. 0 means no line.
	Guide float64 `json:"guide,omitempty"`
	// Amounts draws each series as a bar from 0 to the Y of its single point.
	Amounts bool `json:"amounts,omitempty"`
	// order lists the series of all plots that [Shown] shows together, so that a series looks the
	// same in all.
	order []string
}

// Series is a named list of points.
type Series struct {
	Name string `json:"name"`
	// Style is "line" or "points"; "" connects the points by lines if no two have the same X.
	Style  string  `json:"style,omitempty"`
	Points []Point `json:"points"`
}

// The styles of a series.
const (
	// StyleLine is a line without marks, in the colour of the series whose name begins its own.
	StyleLine   = "line"
	StylePoints = "points" // marks without a line
)

// Point has a range if Lo < Hi.
type Point struct {
	X, Y   float64
	Lo, Hi float64 `json:",omitempty"`
}

// At returns an estimate as a point.
func At(x float64, e estimate.Estimate) Point { return Point{X: x, Y: e.Mean, Lo: e.Lo, Hi: e.Hi} }

// Intervals describes error bars that cover the true value with the given probability (0 means
// [estimate.DefaultConfidence]) over units such as "windows".
func Intervals(confidence float64, units string) string {
	if confidence == 0 {
		confidence = estimate.DefaultConfidence
	}
	return fmt.Sprintf("%s %% intervals over %s", label(100*confidence), units)
}

// Add appends a point to the named series, which it creates if necessary. An unbounded range is
// dropped, and so is a point that the axes cannot show. A Y of 0 or less on a logarithmic axis is
// kept among the numbers but not drawn.
func (p *Plot) Add(name, style string, at Point) {
	if !finite(at.X) || p.LogX && !logarithmic(at.X) || !finite(at.Y) || p.LogY && at.Y > 0 && !logarithmic(at.Y) {
		return
	}
	if !finite(at.Lo) || !finite(at.Hi) {
		at.Lo, at.Hi = 0, 0
	}
	i := slices.IndexFunc(p.Series, func(s Series) bool { return s.Name == name })
	if i < 0 {
		i = len(p.Series)
		p.Series = append(p.Series, Series{Name: name, Style: style})
	}
	p.Series[i].Points = append(p.Series[i].Points, at)
}

// Shown returns the plots that have a point, reusing the memory of all. A series looks the same in
// all plots that share series.
func Shown(all ...Plot) []Plot {
	all = slices.DeleteFunc(all, func(p Plot) bool { return len(p.Series) == 0 })
	alike(all)
	return all
}

// alike gives the series of plots shown together a common order.
func alike(all []Plot) {
	for i := range all {
		p := &all[i]
		p.order = nil
		for _, before := range all[:i] {
			if slices.ContainsFunc(p.named(), func(s Series) bool { return slices.Contains(before.order, s.Name) }) {
				p.order = slices.Clone(before.order)
			}
		}
		for _, s := range p.named() {
			if !slices.Contains(p.order, s.Name) {
				p.order = append(p.order, s.Name)
			}
		}
	}
}

// says returns the text below a picture: the caption, the meaning of the bars, and what is not
// drawn.
func (p Plot) says() string {
	parts := []string{p.Caption}
	if p.Bars != "" && p.some(ranged) {
		parts = append(parts, "Bars are "+p.Bars+".")
	}
	parts = append(parts, p.hidden()...)
	var none []string
	for _, s := range p.named() {
		if slices.ContainsFunc(s.Points, p.unplaced) {
			none = append(none, s.Name)
		}
	}
	if len(none) > 0 {
		parts = append(parts, "A logarithmic axis cannot show the values of 0 or less of "+english.OxfordWordSeries(none, "and")+".")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// hidden describes the series that coincide with earlier ones.
func (p Plot) hidden() (out []string) {
	left := p.named()
	for !p.Amounts && len(left) > 1 {
		var on []string
		first := left[0]
		left = slices.DeleteFunc(left[1:], func(s Series) bool {
			same := slices.EqualFunc(s.Points, first.Points, func(a, b Point) bool { return near(a.X, b.X) && near(a.Y, b.Y) })
			if same {
				on = append(on, s.Name)
			}
			return same
		})
		if len(on) > 0 {
			out = append(out, "On "+first.Name+" "+english.PluralWord(len(on), "lies", "lie")+" "+english.OxfordWordSeries(on, "and")+".")
		}
	}
	return out
}

// some reports whether some point satisfies is.
func (p Plot) some(is func(Point) bool) bool {
	return slices.ContainsFunc(p.Series, func(s Series) bool { return slices.ContainsFunc(s.Points, is) })
}

func ranged(at Point) bool { return at.Lo < at.Hi }

// near reports whether two numbers are at the same place in a picture.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a) }

// Height returns the picture's height in points: least for the axes plus the legend below them, or
// the height of the bars for amounts.
func (p Plot) Height(least float64) float64 {
	if p.Amounts {
		return 15*float64(len(p.Series)) + 60
	}
	return least + 13*float64(len(p.placed()))
}

// unplaced reports whether a logarithmic axis cannot show a point.
func (p Plot) unplaced(at Point) bool { return p.LogY && at.Y <= 0 }

// label formats a number with at most 6 digits.
func label(x float64) string { return short(x, 6) }

// short formats a number with at most the given number of digits.
func short(x float64, digits int) string {
	return strings.NewReplacer("e-0", "e−", "e+0", "e", "e+", "e", "-", "−").Replace(fmt.Sprintf("%.*g", digits, x+0)) // −0 + 0 is 0
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// logarithmic reports whether a logarithmic axis can show a number: 1e-100 to 1e100.
func logarithmic(x float64) bool { return x >= 1e-100 && x <= 1e100 }
