package bench

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/samplers"
)

// Rate is a fitted exponent: a distance from first-hitting falls like N to its power.
type Rate struct {
	// Series is the ID of the cells without their steps, Distance what falls: tv.
	Series   string `json:"series"`
	Distance string `json:"distance"`
	// Kind is "local" between neighbouring numbers of steps, "fit" for least squares over
	// those that are at least the window's length, which are three or more.
	Kind string `json:"kind"`
	// Steps are the numbers of steps, rising.
	Steps []int `json:"steps"`
	// Exponent has its interval from samples that are drawn again jointly for all steps;
	// Bias is what the logarithm of a mean adds to it in first order, not taken off.
	Exponent estimate.Estimate `json:"exponent"`
	Bias     estimate.Number   `json:"bias"`
	// CollisionBound is the exponent of the collision bound over the same steps, not finite where
	// that bounds nothing.
	CollisionBound estimate.Number `json:"collision_bound"`
	// PaperUpper and PaperLower are the exponents of the paper's bounds on total variation:
	// Theorem 2 and Corollary 1 let Euler's fall at least like 1/N, and Theorem 3 has data for
	// which that of a sampler that reveals positions of a step independently falls no faster.
	// They are nil for what they are not about.
	PaperUpper *float64 `json:"paper_upper,omitempty"`
	PaperLower *float64 `json:"paper_lower,omitempty"`
}

// Rates fits exponents to all cells that differ in their numbers of steps alone.
func (e *Errors) Rates(seed uint64) []Rate {
	var out []Rate
	for _, g := range e.groups {
		if g.study == nil {
			continue
		}
		var families []string
		for _, c := range g.cells {
			if key := c.familyKey(); c.Sampler.Settings().Steps > 0 && !slices.Contains(families, key) {
				families = append(families, key)
			}
		}
		for _, family := range families {
			out = append(out, g.rates(family, e.d, seed)...)
		}
	}
	return out
}

// rounding is where a distance is 0 but for rounding.
const rounding = 1e-12

// paperRates are the exponents of the paper's bounds for a sampler.
func paperRates(law samplers.Law) (upper, lower *float64) {
	rate := -1.0
	if law.PaperUpper {
		upper = &rate
	}
	if law.PaperLower {
		lower = &rate
	}
	return upper, lower
}

// rates fits the exponents of one family.
func (g *errorGroup) rates(family string, d int, seed uint64) []Rate {
	var list []int
	for i, c := range g.cells {
		if c.familyKey() == family {
			list = append(list, i)
		}
	}
	// What is 0, as where every call of a sampler reveals one position, has no logarithm.
	list = slices.DeleteFunc(list, func(i int) bool { return !(g.study.Distance(quality.TV, i).Mean > rounding) })
	steps := func(i int) int { return g.cells[i].Sampler.Settings().Steps }
	slices.SortFunc(list, func(a, b int) int { return steps(a) - steps(b) })
	var out []Rate
	fit := func(kind string, of []int) {
		r := Rate{Series: family, Distance: string(quality.TV), Kind: kind}
		for _, i := range of {
			r.Steps = append(r.Steps, steps(i))
		}
		s := g.study.Slope(of, r.Steps, seed)
		r.Exponent, r.Bias, r.CollisionBound = s.Exponent, estimate.Number(s.Bias), estimate.Number(s.Bound)
		if law, ok := g.cells[of[0]].Sampler.Law(); ok {
			r.PaperUpper, r.PaperLower = paperRates(law)
		}
		out = append(out, r)
	}
	for k := 1; k < len(list); k++ {
		if steps(list[k]) > steps(list[k-1]) {
			fit("local", list[k-1:k+1])
		}
	}
	if long := slices.DeleteFunc(list, func(i int) bool { return steps(i) < d }); len(long) >= 3 {
		fit("fit", long)
	}
	return out
}

// RateTable is rates as a table of text: four columns of words, then numbers.
func RateTable(rates []Rate) (head []string, rows [][]string) {
	head = []string{"series", "of", "", "N", "exponent", "interval", "bias", "collision bound", "paper, upper", "paper, lower"}
	for _, r := range rates {
		paper := func(x *float64) string {
			if x == nil {
				return "–"
			}
			return fmt.Sprintf("%g", *x)
		}
		number := func(x estimate.Number) string {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return "–"
			}
			return fmt.Sprintf("%.2g", float64(x))
		}
		collision := number(r.CollisionBound)
		if collision != "–" {
			collision = fmt.Sprintf("%.3f", float64(r.CollisionBound))
		}
		exponent, interval := "–", "–"
		if e := r.Exponent; !math.IsNaN(e.Mean) && !math.IsInf(e.Mean, 0) {
			exponent = fmt.Sprintf("%.3f", e.Mean)
			if !math.IsNaN(e.Lo+e.Hi) && !math.IsInf(e.Lo, 0) && !math.IsInf(e.Hi, 0) {
				interval = fmt.Sprintf("[%.3f, %.3f]", e.Lo, e.Hi)
			}
		}
		rows = append(rows, []string{
			r.Series, r.Distance, r.Kind, fmt.Sprintf("%d..%d", r.Steps[0], r.Steps[len(r.Steps)-1]),
			exponent, interval, number(r.Bias), collision, paper(r.PaperUpper), paper(r.PaperLower),
		})
	}
	return head, rows
}
