package bound

import (
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/samplers"
)

// worldPlots are the pictures of a world: by kind of grid, distances from first-hitting and
// from the data against N, and the cross-entropy against N.
func worldPlots(w *laws.World, fhs []float64, nelbo laws.NELBO, all runs) []Plot {
	var out []Plot
	for _, grid := range worldGrids {
		fromFirst := Plot{Name: "tv-fhs-" + string(grid), Title: fmt.Sprintf("Discretisation alone: TV(P_FHS, P_N), %s grid", grid), X: "N", Y: "TV(P_FHS, P_N)", LogX: true, LogY: true}
		fromData := Plot{Name: "tv-q0-" + string(grid), Title: fmt.Sprintf("Distance from the data: TV(q0, P_N), %s grid", grid), X: "N", Y: "TV(q0, P_N)", LogX: true, LogY: true}
		klData := Plot{Name: "kl-q0-" + string(grid), Title: fmt.Sprintf("KL(q0‖P_N), %s grid", grid), X: "N", Y: "nats", LogX: true, LogY: true}
		nll := Plot{Name: "nll-" + string(grid), Title: fmt.Sprintf("Cross-entropy E[−log P_N(x0)], %s grid", grid), X: "N", Y: "nats", LogX: true}
		var captions []string
		for _, rule := range worldRules {
			chains := all[family{grid, rule}]
			tv, _ := fromFHS(fhs, chains)
			fromFirst.Series = append(fromFirst.Series, series(string(rule), tv, true))
			if s, ok := slope(tv); ok {
				captions = append(captions, fmt.Sprintf("%s %.3f", rule, s))
			}
			var a, b, c []float64
			for _, chain := range chains {
				a = append(a, laws.TV(w.Q0, chain.Denoised))
				b = append(b, laws.KL(w.Q0, chain.Denoised))
				c = append(c, laws.CrossEntropy(w.Q0, chain.Denoised))
			}
			fromData.Series = append(fromData.Series, series(string(rule), a, true))
			klData.Series = append(klData.Series, series(string(rule), b, true))
			nll.Series = append(nll.Series, series(string(rule), c, false))
		}
		if !w.Timed() {
			var bound []float64
			for _, c := range all[family{grid, samplers.RuleTweedie}] {
				bound = append(bound, 1-theory.CollisionBound(w.D, c.Steps.Reveal, c.Steps.Left(), true))
			}
			fromFirst.Series = append(fromFirst.Series, series("1 − p* of tweedie", bound, true))
		}
		if len(captions) > 0 {
			fromFirst.Caption = "Slope from N = 32 to 64: " + strings.Join(captions, ", ") + ". The laws are exact, so the slopes have no interval; the paper's rate is −1. "
		}
		fromFirst.Caption += "What is masked at the end is filled by one more call."
		fromData.Series = append(fromData.Series, flat("first-hitting", laws.TV(w.Q0, fhs), true))
		fromData.Caption = "The curves level off at first-hitting's own distance, which is the denoiser's error; it is missing here where it is 0."
		klData.Series = append(klData.Series, flat("first-hitting", laws.KL(w.Q0, fhs), true), flat("ε″ = E[NELBO] − H(q0)", nelbo.Expected-laws.Entropy(w.Q0), true))
		klData.Caption = "Theorem 4 puts first-hitting below ε″. Grid samplers come to it from above or below."
		nll.Series = append(nll.Series, flat("first-hitting", laws.CrossEntropy(w.Q0, fhs), false), flat("E[NELBO]", nelbo.Expected, false), flat("H(q0)", laws.Entropy(w.Q0), false))
		for _, p := range []Plot{fromFirst, fromData, klData, nll} {
			if p = visible(p); len(p.Series) > 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// series is a line over worldSteps without the points that cannot be shown.
func series(name string, y []float64, logY bool) Series {
	s := Series{Name: name}
	for i, v := range y {
		if !math.IsInf(v, 0) && !math.IsNaN(v) && (!logY || v > noiseFloor) {
			s.Points = append(s.Points, Point{X: float64(worldSteps[i]), Y: v})
		}
	}
	return s
}

// flat is a value that does not depend on N.
func flat(name string, y float64, logY bool) Series {
	values := make([]float64, len(worldSteps))
	for i := range values {
		values[i] = y
	}
	return series(name, values, logY)
}

// visible leaves out series without points.
func visible(p Plot) Plot {
	var keep []Series
	for _, s := range p.Series {
		if len(s.Points) > 0 {
			keep = append(keep, s)
		}
	}
	p.Series = keep
	return p
}
