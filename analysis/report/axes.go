package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// axis is a range with the numbers that are written on it.
type axis struct {
	low, high float64
	log       bool
	// at, where it is not nil, are the numbers that have a tick.
	at []float64
	// edge is where values have their place for which a logarithmic axis has none, 0 where there
	// are none; edgeLabel is what is written there.
	edge      float64
	edgeLabel string
}

// ranges are the axes that a picture needs.
func (d drawing) ranges() (x, y axis) {
	var xs, ys []float64
	y.log = d.LogY
	for _, s := range d.Series {
		for _, at := range s.Points {
			xs = append(xs, at.X)
			switch {
			case !d.edge(at):
				ys = append(ys, at.Y)
			case at.Y < 0:
				y.edgeLabel = "≤ 0"
			case y.edgeLabel == "":
				y.edgeLabel = "0"
			}
		}
	}
	if len(ys) == 0 {
		ys = []float64{1}
	}
	floor := slices.Min(ys) / 3
	for _, s := range d.Series {
		for _, at := range s.Points {
			if lo, hi, ok := d.bar(at, floor); ok {
				ys = append(ys, lo, hi)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	x = margined(xs[0], xs[len(xs)-1], d.LogX)
	if whole := !slices.ContainsFunc(xs, func(x float64) bool { return x != math.Trunc(x) }); d.LogX && len(xs) <= 12 && whole {
		x.at = xs
	}
	label := y.edgeLabel
	y = margined(slices.Min(ys), slices.Max(ys), d.LogY)
	if label != "" {
		y.edgeLabel = label
		gap := max(math.Pow(y.high/y.low, 0.05), 1.1)
		y.edge = y.low / gap
		y.low = y.edge / gap
	}
	return x, y
}

// margined leaves a margin beside the values.
func margined(low, high float64, log bool) axis {
	if log {
		margin := max(math.Pow(high/low, 0.04), 1.05)
		return axis{low: low / margin, high: high * margin, log: true}
	}
	margin := (high - low) * 0.04
	if !(margin > 0) {
		margin = max(math.Abs(high)*0.01, 1e-12)
	}
	return axis{low: low - margin, high: high + margin}
}

// place is where a value is on the axis.
func (a axis) place(v float64) float64 {
	if a.log && v <= 0 {
		return a.edge
	}
	return v
}

// set gives a picture's axis its range, scale and ticks.
func (a axis) set(to *plot.Axis) {
	to.Min, to.Max = a.low, a.high
	if a.log {
		to.Scale = plot.LogScale{}
	}
	to.Tick.Marker = plot.ConstantTicks(a.ticks())
}

// spaced leaves those labels out that would touch the one before, on an axis of a length where
// labels take a size.
func (a axis) spaced(to *plot.Axis, length vg.Length, size func(label string) vg.Length) {
	ticks := a.ticks()
	end := vg.Length(math.Inf(-1))
	for i, t := range ticks {
		middle, half := vg.Length(to.Norm(t.Value))*length, size(t.Label)/2
		if middle-half < end {
			ticks[i].Label = ""
			continue
		}
		end = middle + half
	}
	to.Tick.Marker = plot.ConstantTicks(ticks)
}

func (a axis) ticks() []plot.Tick {
	values := a.at
	if values == nil {
		low := a.low
		if a.edge > 0 {
			low = a.edge * math.Sqrt(a.edge/a.low)
		}
		if values = even(low, a.high); a.log {
			values = powers(low, a.high)
		}
	}
	var out []plot.Tick
	if a.edge > 0 {
		out = append(out, plot.Tick{Value: a.edge, Label: a.edgeLabel})
	}
	for _, v := range values {
		out = append(out, plot.Tick{Value: v, Label: label(v)})
	}
	return out
}

// even are multiples of 1, 2 or 5 times a power of ten, about five of them. Those of
// gonum do not end where the range is very large or narrow.
func even(low, high float64) []float64 {
	rough := (high - low) / 5
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := unit
	for _, m := range []float64{2, 5, 10} {
		if step < rough {
			step = m * unit
		}
	}
	var out []float64
	first := math.Ceil(low / step)
	for i := range 12 {
		if v := (first + float64(i)) * step; v >= low && v <= high {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		out = []float64{low, high}
	}
	return out
}

// powers are powers of ten, or 1, 2 and 5 times them on a short axis.
func powers(low, high float64) []float64 {
	decades := math.Log10(high / low)
	if decades < 0.7 {
		return even(low, high)
	}
	steps := []float64{1}
	if decades < 2.5 {
		steps = []float64{1, 2, 5}
	}
	every := int(math.Ceil(decades / 8))
	var out []float64
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for _, m := range steps {
			if v := m * math.Pow10(e); v >= low && v <= high && e%every == 0 {
				out = append(out, v)
			}
		}
	}
	return out
}

// label writes a number with 6 digits at most.
func label(x float64) string { return short(x, 6) }

// short writes a number with so many digits at most.
func short(x float64, digits int) string {
	return strings.NewReplacer("e-0", "e−", "e+0", "e", "e+", "e", "-", "−").Replace(fmt.Sprintf("%.*g", digits, x+0)) // −0 + 0 is 0
}

// slope is the line of the claimed slope that touches the highest points from above, as far as it
// is inside; nil where no slope would be seen.
func (d drawing) slope() plotter.XYs {
	if d.Guide == 0 || len(d.Series) == 0 {
		return nil
	}
	x, y := d.ranges()
	c := 0.0
	for _, s := range d.Series {
		for _, at := range s.Points {
			if d.parent(s) == "" && !d.edge(at) {
				c = max(c, at.Y*math.Pow(at.X, -d.Guide))
			}
		}
	}
	var line plotter.XYs
	const steps = 100
	for i := range steps + 1 {
		at := plotter.XY{X: x.low * math.Pow(x.high/x.low, float64(i)/steps)}
		if at.Y = c * math.Pow(at.X, d.Guide); at.Y >= y.low && at.Y <= y.high {
			line = append(line, at)
		}
	}
	if len(line) < steps/3 {
		return nil
	}
	return line
}
