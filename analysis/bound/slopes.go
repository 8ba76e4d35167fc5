package bound

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
)

// distance is a distance of P_FHS from P_N, whose terms have it as their mean over
// samples of P_FHS.
type distance struct {
	name, of, unit string
	// terms have the distance of case i as their mean, from costs under P_FHS and P_N.
	terms func(ws []window, i int) []float64
	// mean estimates it.
	mean func(terms []float64, confidence float64) estimate.Estimate
	// bound is the collision bound, from log p*.
	bound func(apart float64) float64
}

func distances() []distance {
	costs := func(ws []window, i int) (q, p []float64) {
		return each(ws, func(w window) float64 { return w.fhs }), each(ws, func(w window) float64 { return w.cases[i] })
	}
	variation := func(ws []window, i int) []float64 { return quality.VariationTerms(costs(ws, i)) }
	divergence := func(ws []window, i int) []float64 { return quality.DivergenceTerms(costs(ws, i)) }
	return []distance{
		{"tv", "TV(P_FHS, P_N)", "probability", variation, estimate.Mean,
			func(apart float64) float64 { return -math.Expm1(apart) }},
		{"kl", "KL(P_FHS‖P_N)", "nats", divergence, estimate.Skewed,
			func(apart float64) float64 { return -apart }},
	}
}

// discretisation states what samples of P_FHS tell: distances of the samplers' laws from
// it beside the collision bound, which holds for the term of each sample, and exponents.
func discretisation(out *draft, ws []window, cfg Config) {
	for _, what := range distances() {
		plot := report.Plot{
			Name: what.name, X: "N", LogX: true, LogY: true,
			Title: what.of, Y: what.unit, Bars: report.Intervals(cfg.Confidence, "samples"), Caption: "Dotted lines are the collision bounds.",
		}
		if what.name == "tv" {
			plot.Guide = -1 // the paper's rate
		}
		bounds := plot
		for i, c := range cfg.Cases {
			terms := what.terms(ws, i)
			// Sample by sample it is −log r ≤ −log p* that holds, and (1−r)_+ ≤ 1−p*.
			slack := each(ws, func(w window) float64 {
				if what.name == "tv" {
					return what.bound(w.apart[i]) - quality.Shortfall(w.fhs, w.cases[i])
				}
				if math.IsInf(w.apart[i], -1) {
					return math.Inf(1)
				}
				return w.fhs - w.cases[i] - w.apart[i]
			})
			right := what.bound(ws[0].apart[i])
			line := report.Line{
				Name: what.name + " " + c.String(), Statement: plot.Title + " is at most the collision bound, sample by sample",
				Left: of(what.mean(terms, cfg.Confidence)), Right: report.Exact(right), Unit: what.unit,
			}
			line.Right.Bound = "upper"
			line.Gap = less(line.Right, line.Left)
			verdict, ok := exactly(slack, exactLimit)
			if math.IsInf(ws[0].apart[i], -1) {
				verdict += "; p* = 0, so that nothing is claimed"
			}
			out.judged(line, verdict, ok)
			plot.Add(c.Name, "", report.At(float64(c.N), line.Left.Estimate))
			bounds.Add(c.Name+", collision bound", report.StyleLine, report.Point{X: float64(c.N), Y: right})
		}
		var captions []string
		if what.name == "tv" {
			for _, pair := range pairs(cfg.Cases) {
				captions = append(captions, exponent(out, what, ws, cfg, pair[:], "slope"))
			}
			for _, f := range fits(cfg.Cases, ws[0].d) {
				captions = append(captions, exponent(out, what, ws, cfg, f, "fit"))
			}
		}
		if captions = slices.DeleteFunc(captions, func(s string) bool { return s == "" }); len(captions) > 0 {
			plot.Caption += " Exponents: " + strings.Join(captions, "; ") + "."
		}
		plot.Series = append(plot.Series, bounds.Series...)
		out.Plots = append(out.Plots, report.Shown(plot)...)
	}
}

// less is a − b where a is exact.
func less(a, b report.Value) report.Value {
	v := b
	v.Mean, v.Lo, v.Hi, v.Bound = a.Mean-b.Mean, a.Mean-b.Hi, a.Mean-b.Lo, ""
	return v
}

// pairs lists the indices of neighbouring numbers of steps of the same sampler.
func pairs(cases []Case) [][2]int {
	var out [][2]int
	for i, c := range cases {
		next := -1
		for j, o := range cases {
			if o.Name == c.Name && c.N > 0 && o.N > c.N && (next < 0 || o.N < cases[next].N) {
				next = j
			}
		}
		if next >= 0 {
			out = append(out, [2]int{i, next})
		}
	}
	return out
}

// fits lists, by sampler, the indices of its cases with at least d steps, rising in N,
// where there are three or more: where rates can be seen.
func fits(cases []Case, d int) [][]int {
	var out [][]int
	var names []string
	for _, c := range cases {
		if slices.Contains(names, c.Name) {
			continue
		}
		names = append(names, c.Name)
		var of []int
		for i, o := range cases {
			if o.Name == c.Name && o.N >= d {
				of = append(of, i)
			}
		}
		slices.SortFunc(of, func(a, b int) int { return cases[a].N - cases[b].N })
		if len(of) >= 3 {
			out = append(out, of)
		}
	}
	return out
}

// exponent reports the least-squares slope of the logarithm of TV against log N over
// some cases, whose samples are resampled together, and returns it as a caption. The same
// seed gives every exponent the same resamples. The caption is "" where samples tell no exponent.
func exponent(out *draft, what distance, ws []window, cfg Config, list []int, kind string) string {
	terms, logN := make([][]float64, len(list)), make([]float64, len(list))
	bounds := make([]float64, len(list))
	for j, i := range list {
		terms[j] = what.terms(ws, i)
		logN[j] = math.Log(float64(cfg.Cases[i].N))
		bounds[j] = math.Log(what.bound(ws[0].apart[i]))
	}
	e := quality.BootstrapSlope(terms, logN, cfg.Seed^seedBoot, cfg.Confidence)
	first, last := cfg.Cases[list[0]], cfg.Cases[list[len(list)-1]]
	statement := "local exponent of N in TV(P_FHS, P_N), beside that of the collision bound"
	if kind == "fit" {
		statement = "exponent of N in TV(P_FHS, P_N) by least squares over N ≥ d, beside that of the collision bound"
	}
	if law, ok := first.Sampler.Law(); ok && law.PaperLower {
		statement += ", which tends to −1"
	}
	line := report.Line{
		Name:      fmt.Sprintf("%s_%s %s %d..%d", kind, what.name, first.Name, first.N, last.N),
		Statement: statement,
		Left:      of(e), Right: report.Exact(quality.LeastSquares(logN, bounds)), Unit: "exponent",
	}
	line.Gap = less(line.Right, line.Left)
	if slices.ContainsFunc(list, func(i int) bool { return math.IsInf(ws[0].apart[i], -1) }) {
		line.Right, line.Gap = unknown(), unknown() // p* = 0 bounds nothing, and has no exponent.
	}
	out.add(line)
	if math.IsNaN(e.Mean) || math.IsInf(e.Mean, 0) || math.IsInf(e.Lo, 0) || math.IsInf(e.Hi, 0) {
		return ""
	}
	caption := fmt.Sprintf("%s %d..%d: N^%.2f (%.2f..%.2f)", first.Name, first.N, last.N, e.Mean, e.Lo, e.Hi)
	if kind == "fit" {
		return "fit " + caption
	}
	return caption
}
