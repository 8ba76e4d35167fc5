package bound

import (
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// gapPlot shows the gaps of windows by rising size, with their mean.
func gapPlot(title string, gaps []float64, mean estimate.Estimate, confidence float64) []report.Plot {
	p := report.Plot{Name: "gap", Title: title, X: "windows, from the smallest gap to the greatest", Y: "nats", Bars: report.Intervals(confidence, "windows")}
	for i, g := range slices.Sorted(slices.Values(gaps)) {
		p.Add("a window", report.StylePoints, report.Point{X: float64(i + 1), Y: g})
	}
	p.Add("mean", report.StyleLine, report.Point{X: 1, Y: mean.Mean})
	p.Add("mean", report.StyleLine, report.At(float64(len(gaps)), mean))
	return report.Shown(p)
}

// calls is the expected number of network calls of a case on windows with numbers of free
// positions, the one that fills what is left included; NaN where no plan tells it.
func calls(c Case, free []float64) float64 {
	of := make(map[float64]float64)
	var sum float64
	for _, d := range free {
		n, known := of[d]
		if !known {
			reveal, fill, err := c.Sampler.ExpectedCalls(int(d))
			if n = reveal + fill; err != nil {
				n = math.NaN()
			}
			of[d] = n
		}
		sum += n / float64(len(free))
	}
	return sum
}

// beyondNoise is a distance, 0 for one that is rounding.
func beyondNoise(x float64) float64 {
	if x <= noiseFloor {
		return 0
	}
	return x
}
