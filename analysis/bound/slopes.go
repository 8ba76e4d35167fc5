package bound

import (
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/estimate"
)

// resamples is how many bootstrap samples an interval of an exponent takes.
const resamples = 1000

// distance is a distance of P_FHS from P_N, whose terms have it as their mean over
// samples of P_FHS.
type distance struct {
	name, unit string
	rate       string
	// term is of sample w and case i.
	term func(w window, i int) float64
	// bound is the collision bound, from log p*.
	bound func(apart float64) float64
}

// distances returns both.
func distances(cases []Case) []distance {
	return []distance{
		{"tv", "probability", "TV(P_FHS, P_N) falls like 1/N",
			func(w window, i int) float64 { return shortfall(w.fhs, w.cases[i]) },
			func(apart float64) float64 { return -math.Expm1(apart) }},
		{"kl", "nats", "KL(P_FHS‖P_N) falls like 1/N² where P_FHS has full support and no mask is left, else like 1/N",
			func(w window, i int) float64 {
				// r − 1 has the mean mass(P_N) − 1 and, near r = 1, cancels what −log r varies
				// by in first order.
				if math.IsInf(w.cases[i], 1) {
					return math.Inf(1)
				}
				logR := w.fhs - w.cases[i]
				return math.Expm1(logR) - logR + 1 - mass(cases[i], w.d)
			},
			func(apart float64) float64 { return -apart }},
	}
}

// mass is the probability that a sampler leaves none of d positions masked.
func mass(c Case, d int) float64 {
	steps, ok := c.Sampler.Steps()
	if !ok || c.Sampler.Denoises() {
		return 1
	}
	return math.Exp(float64(d) * math.Log1p(-steps.Left()))
}

// discretisation states what samples of P_FHS tell: distances of the samplers' laws from
// it beside the collision bound, which holds for the term of each sample, and exponents.
func discretisation(out *draft, ws []window, cfg Config) {
	for _, what := range distances(cfg.Cases) {
		plot := Plot{
			Name: what.name, X: "N", LogX: true, LogY: true,
			Title: map[string]string{"tv": "TV(P_FHS, P_N)", "kl": "KL(P_FHS‖P_N)"}[what.name], Y: what.unit,
		}
		bounds := Plot{LogY: true}
		for i, c := range cfg.Cases {
			terms := each(ws, func(w window) float64 { return what.term(w, i) })
			// Sample by sample it is −log r ≤ −log p* that holds, and (1−r)_+ ≤ 1−p*.
			slack := each(ws, func(w window) float64 {
				if what.name == "tv" {
					return what.bound(w.apart[i]) - what.term(w, i)
				}
				if math.IsInf(w.apart[i], -1) {
					return math.Inf(1)
				}
				return w.fhs - w.cases[i] - w.apart[i]
			})
			right := what.bound(ws[0].apart[i])
			line := Line{
				Name: what.name + " " + c.String(), Statement: plot.Title + " is at most the collision bound, sample by sample",
				Left: of(mean(terms, nil, cfg.Confidence)), Right: exactValue(right), Unit: what.unit,
			}
			line.Right.Bound = "upper"
			line.Gap = less(line.Right, line.Left)
			verdict, ok := exactly(slack, exactLimit)
			if math.IsInf(ws[0].apart[i], -1) {
				verdict += "; p* = 0, so that nothing is claimed"
			}
			out.judged(line, verdict, ok)
			addPoint(&plot, c, point(float64(c.N), line.Left))
			addPoint(&bounds, Case{Name: c.Name + ", collision bound", N: c.N}, Point{X: float64(c.N), Y: right})
		}
		var captions []string
		for _, pair := range pairs(cfg.Cases) {
			captions = append(captions, exponent(out, what, ws, cfg, pair))
		}
		plot.Caption = strings.Join(captions, "; ")
		if plot.Series = append(plot.Series, bounds.Series...); len(plot.Series) > 0 {
			out.Plots = append(out.Plots, plot)
		}
	}
}

// less is a − b where a is exact.
func less(a, b Value) Value {
	return Value{Mean: a.Mean - b.Mean, Lo: a.Mean - b.Hi, Hi: a.Mean - b.Lo, SE: b.SE, N: b.N, Confidence: b.Confidence, Exact: b.Exact}
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

// exponent reports the slope of the logarithm of a distance against log N between two
// cases, whose samples are resampled together, and returns it as a caption. The same seed
// gives every exponent the same resamples.
func exponent(out *draft, what distance, ws []window, cfg Config, pair [2]int) string {
	a, b := cfg.Cases[pair[0]], cfg.Cases[pair[1]]
	first, second := each(ws, func(w window) float64 { return what.term(w, pair[0]) }), each(ws, func(w window) float64 { return what.term(w, pair[1]) })
	logN := math.Log(float64(b.N) / float64(a.N))
	e := estimate.Bootstrap(len(ws), resamples, cfg.Seed^seedBoot, cfg.Confidence, func(at []int) float64 {
		var x, y float64
		for _, i := range at {
			x += first[i]
			y += second[i]
		}
		return math.Log(y/x) / logN
	})
	slope := math.Log(what.bound(ws[0].apart[pair[1]])/what.bound(ws[0].apart[pair[0]])) / logN
	line := Line{
		Name:      fmt.Sprintf("slope_%s %s %d..%d", what.name, a.Name, a.N, b.N),
		Statement: "local exponent of N, beside that of the collision bound; " + what.rate,
		Left:      of(e), Right: exactValue(slope), Unit: "exponent",
	}
	line.Gap = less(line.Right, line.Left)
	out.add(line)
	return fmt.Sprintf("%s %d..%d: N^%.2f (%.2f..%.2f)", a.Name, a.N, b.N, e.Mean, e.Lo, e.Hi)
}
