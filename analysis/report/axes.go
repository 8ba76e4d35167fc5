package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// connected says whether lines between points mean anything: between windows of a text
// they do not.
func connected(p Plot) bool { return p.LogX || !strings.HasPrefix(p.X, "window") }

// axes sets ranges, scales and ticks.
func axes(out *plot.Plot, p Plot, series []Series) {
	var xs, ys []float64
	for _, s := range series {
		for _, at := range s.Points {
			xs, ys = append(xs, at.X), append(ys, at.Y)
		}
	}
	floor := slices.Min(ys) / 3
	for _, s := range series {
		for _, at := range s.Points {
			if lo, hi, ok := bar(p, at, floor); ok {
				ys = append(ys, lo, hi)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	axis(&out.X, p.LogX, xs[0], xs[len(xs)-1])
	axis(&out.Y, p.LogY, slices.Min(ys), slices.Max(ys))
	whole := !slices.ContainsFunc(xs, func(x float64) bool { return x != math.Trunc(x) })
	if p.LogX && len(xs) <= 12 && whole {
		var ticks []plot.Tick
		for _, x := range xs {
			ticks = append(ticks, plot.Tick{Value: x, Label: label(x)})
		}
		out.X.Tick.Marker = plot.ConstantTicks(ticks)
	}
}

// axis leaves a margin beside the values.
func axis(a *plot.Axis, log bool, low, high float64) {
	if log {
		margin := max(math.Pow(high/low, 0.04), 1.05)
		a.Min, a.Max = low/margin, high*margin
		a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{}
		return
	}
	margin := (high - low) * 0.04
	if !(margin > 0) {
		margin = max(math.Abs(high)*0.01, 1e-12)
	}
	a.Min, a.Max = low-margin, high+margin
	a.Tick.Marker = evenTicks{}
}

// evenTicks are multiples of 1, 2 or 5 times a power of ten, about five of them. Those of
// gonum do not end where the range is very large or narrow.
type evenTicks struct{}

// Ticks implements plot.Ticker.
func (evenTicks) Ticks(low, high float64) []plot.Tick {
	rough := (high - low) / 5
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := unit
	for _, m := range []float64{2, 5, 10} {
		if step < rough {
			step = m * unit
		}
	}
	var out []plot.Tick
	first := math.Ceil(low / step)
	for i := range 12 {
		if v := (first + float64(i)) * step; v >= low && v <= high {
			out = append(out, plot.Tick{Value: v, Label: label(v)})
		}
	}
	if len(out) == 0 {
		out = []plot.Tick{{Value: low, Label: label(low)}, {Value: high, Label: label(high)}}
	}
	return out
}

// logTicks are powers of ten, or 1, 2 and 5 times them on a short axis.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	decades := math.Log10(high / low)
	if decades < 0.7 {
		return evenTicks{}.Ticks(low, high)
	}
	steps := []float64{1}
	if decades < 2.5 {
		steps = []float64{1, 2, 5}
	}
	every := int(math.Ceil(decades / 8))
	var out []plot.Tick
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for _, m := range steps {
			if v := m * math.Pow10(e); v >= low && v <= high && e%every == 0 {
				out = append(out, plot.Tick{Value: v, Label: label(v)})
			}
		}
	}
	return out
}

// label writes a number with 6 digits at most.
func label(x float64) string { return strings.Replace(fmt.Sprintf("%.6g", x), "-", "−", 1) }
