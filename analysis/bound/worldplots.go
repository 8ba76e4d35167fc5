package bound

import (
	"fmt"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/analysis/theory"
	"mdmgen/samplers/schedule"
)

// worldPlots are the pictures of a world: by kind of grid, distances from first-hitting and
// from the data against N, and the cross-entropy against N.
func worldPlots(w *laws.World, fhs []float64, nelbo laws.NELBO, all runs) []report.Plot {
	var out []report.Plot
	for _, grid := range worldGrids {
		plot := func(name, title, y string) report.Plot {
			return report.Plot{Name: name + "-" + string(grid), Title: fmt.Sprintf("%s, %s grid", title, grid), X: "N", Y: y, LogX: true, LogY: true, Facet: fmt.Sprintf("By the number of steps on the %s grid", grid)}
		}
		fromFirst := plot("tv-fhs", "Discretisation alone: TV(P_FHS, P_N)", "TV(P_FHS, P_N)")
		fromData := plot("tv-q0", "Distance from the data: TV(q0, P_N)", "TV(q0, P_N)")
		klData := plot("kl-q0", "KL(q0‖P_N)", "nats")
		nll := plot("nll", "Cross-entropy E[−log P_N(x0)]", "nats")
		fromFirst.Guide, nll.LogY = -1, false // the paper's rate
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
			for i, c := range all[family{grid, schedule.RuleTweedie}] {
				fromFirst.Add("tweedie, collision bound", report.StyleLine, report.Point{X: float64(worldSteps[i]), Y: 1 - theory.CollisionBound(w.D, c.Steps.Reveal, c.Steps.Left(), true)})
			}
			fromFirst.Caption = "The dots of tweedie's colour are its collision bound 1 − p*. "
		}
		if len(captions) > 0 {
			fromFirst.Caption += "Slope from N = 32 to 64: " + strings.Join(captions, ", ") + ". The laws are exact, so the slopes have no interval; the paper's rate is −1. "
		}
		fromFirst.Caption += "What is masked at the end is filled by one more call."
		addLevel(&fromData, "first-hitting", laws.TV(w.Q0, fhs))
		fromData.Caption = "The curves level off at first-hitting's own distance, which is the denoiser's error; it is missing here where it is 0."
		addLevel(&klData, "first-hitting", laws.KL(w.Q0, fhs))
		addLevel(&klData, "ε″ = E[NELBO] − H(q0)", nelbo.Expected-laws.Entropy(w.Q0))
		klData.Caption = "Theorem 4 puts first-hitting below ε″. Grid samplers come to it from above or below."
		addLevel(&nll, "first-hitting", laws.CrossEntropy(w.Q0, fhs))
		addLevel(&nll, "E[NELBO]", nelbo.Expected)
		addLevel(&nll, "H(q0)", laws.Entropy(w.Q0))
		out = append(out, fromFirst, fromData, klData, nll)
	}
	return report.Shown(out...)
}

// addSteps adds a line over worldSteps. What is rounding is 0.
func addSteps(p *report.Plot, name string, y ...float64) {
	for i, n := range worldSteps {
		p.Add(name, "", report.Point{X: float64(n), Y: beyondNoise(y[i])})
	}
}

// addLevel adds a value that does not depend on N.
func addLevel(p *report.Plot, name string, y float64) {
	if y > noiseFloor {
		p.Add(name, report.StyleLine, report.Point{X: float64(worldSteps[0]), Y: y})
		p.Add(name, report.StyleLine, report.Point{X: float64(worldSteps[len(worldSteps)-1]), Y: y})
	}
}
