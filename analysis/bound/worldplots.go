package bound

import (
	"fmt"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/analysis/theory"
	"mdmgen/samplers"
)

// worldPlots are the pictures of a world: by kind of grid, distances from first-hitting and
// from the data against N, and the cross-entropy against N.
func worldPlots(w *laws.World, fhs []float64, nelbo laws.NELBO, all runs) []report.Plot {
	var out []report.Plot
	for _, grid := range worldGrids {
		fromFirst := report.Plot{Name: "tv-fhs-" + string(grid), Title: fmt.Sprintf("Discretisation alone: TV(P_FHS, P_N), %s grid", grid), X: "N", Y: "TV(P_FHS, P_N)", LogX: true, LogY: true}
		fromData := report.Plot{Name: "tv-q0-" + string(grid), Title: fmt.Sprintf("Distance from the data: TV(q0, P_N), %s grid", grid), X: "N", Y: "TV(q0, P_N)", LogX: true, LogY: true}
		klData := report.Plot{Name: "kl-q0-" + string(grid), Title: fmt.Sprintf("KL(q0‖P_N), %s grid", grid), X: "N", Y: "nats", LogX: true, LogY: true}
		nll := report.Plot{Name: "nll-" + string(grid), Title: fmt.Sprintf("Cross-entropy E[−log P_N(x0)], %s grid", grid), X: "N", Y: "nats", LogX: true}
		var captions []string
		for _, rule := range worldRules {
			chains := all[family{grid, rule}]
			tv, _ := fromFHS(fhs, chains)
			addSteps(&fromFirst, string(rule), tv...)
			if s, ok := slope(tv); ok {
				captions = append(captions, fmt.Sprintf("%s %.3f", rule, s))
			}
			var a, b, c []float64
			for _, chain := range chains {
				a = append(a, laws.TV(w.Q0, chain.Denoised))
				b = append(b, laws.KL(w.Q0, chain.Denoised))
				c = append(c, laws.CrossEntropy(w.Q0, chain.Denoised))
			}
			addSteps(&fromData, string(rule), a...)
			addSteps(&klData, string(rule), b...)
			addSteps(&nll, string(rule), c...)
		}
		if !w.Timed() {
			var bound []float64
			for _, c := range all[family{grid, samplers.RuleTweedie}] {
				bound = append(bound, 1-theory.CollisionBound(w.D, c.Steps.Reveal, c.Steps.Left(), true))
			}
			addSteps(&fromFirst, "1 − p* of tweedie", bound...)
		}
		if len(captions) > 0 {
			fromFirst.Caption = "Slope from N = 32 to 64: " + strings.Join(captions, ", ") + ". The laws are exact, so the slopes have no interval; the paper's rate is −1. "
		}
		fromFirst.Caption += "What is masked at the end is filled by one more call."
		addSteps(&fromData, "first-hitting", laws.TV(w.Q0, fhs))
		fromData.Caption = "The curves level off at first-hitting's own distance, which is the denoiser's error; it is missing here where it is 0."
		addSteps(&klData, "first-hitting", laws.KL(w.Q0, fhs))
		addSteps(&klData, "ε″ = E[NELBO] − H(q0)", nelbo.Expected-laws.Entropy(w.Q0))
		klData.Caption = "Theorem 4 puts first-hitting below ε″. Grid samplers come to it from above or below."
		addSteps(&nll, "first-hitting", laws.CrossEntropy(w.Q0, fhs))
		addSteps(&nll, "E[NELBO]", nelbo.Expected)
		addSteps(&nll, "H(q0)", laws.Entropy(w.Q0))
		out = append(out, fromFirst, fromData, klData, nll)
	}
	return report.Shown(out...)
}

// addSteps adds a line over worldSteps, a flat one for a value that does not depend on N. What is
// rounding has no place on a logarithmic axis.
func addSteps(p *report.Plot, name string, y ...float64) {
	for i, n := range worldSteps {
		if v := y[min(i, len(y)-1)]; !p.LogY || v > noiseFloor {
			p.Add(name, "", report.Point{X: float64(n), Y: v})
		}
	}
}
