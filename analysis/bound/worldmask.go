package bound

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
)

// maskWorldReport is about data with MASK and Euler with the exact score, constant steps from
// T to 0: the setting of Corollary 1.
func maskWorldReport(data []byte) (Report, error) {
	var file struct {
		D, V int
		T    float64
		Q0   []float64 `json:"q0_states"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Report{}, fmt.Errorf("not a world of data with MASK: %w", err)
	}
	if file.D < 1 || file.D > 6 || file.V < 1 || file.V > 6 {
		return Report{}, fmt.Errorf("d = %d and V = %d: must be in 1..6", file.D, file.V)
	}
	if err := small(file.D, file.V); err != nil {
		return Report{}, err
	}
	if !(file.T > 1e-6 && file.T < 100) {
		return Report{}, fmt.Errorf("field %q: %v: must be in 1e-6..100", "T", file.T)
	}
	if err := law(file.Q0, laws.NewSpace(file.D, file.V).States); err != nil {
		return Report{}, fmt.Errorf("field %q: %w", "q0_states", err)
	}
	w := laws.NewMaskWorld(file.D, file.V, file.Q0)
	gamma := w.Gamma()
	var l worldLines
	l.below("lemma3.bound", fmt.Sprintf("Lemma 3: TV(q_T, all-mask) ≤ d·e^(−T), T = %g", file.T), "TV",
		w.InitialTV(file.T), float64(w.D)*math.Exp(-file.T), exactTolerance)
	tv := Plot{Name: "theorem1", Title: "Theorem 1 with constant steps", X: "N", Y: "TV", LogX: true, LogY: true}
	names := []string{"TV(q0, Euler)", "Theorem 1's right side, frozen rates", "Corollary 1's terms, constants 1"}
	for _, name := range names {
		tv.Series = append(tv.Series, Series{Name: name})
	}
	for _, n := range worldSteps {
		run := w.Run(theory.ConstantTimes(file.T, 0, n))
		at := fmt.Sprintf("N=%d", n)
		l.below("theorem1.frozen."+at, "Theorem 1, rates frozen at θ_k: TV(q0, their process) ≤ TV(q_T, all-mask) + ∫ E Σ|R̂−R|", "TV",
			run.FrozenTV, run.FrozenRHS, exactTolerance)
		l.reported("theorem1.mixed."+at, "TV(q0, Euler) beside the right side for frozen rates, which bounds another process: not claimed", "TV",
			run.EulerTV, run.FrozenRHS)
		values := []float64{run.EulerTV, run.FrozenRHS}
		if gamma > 0 {
			terms := theory.Corollary1(w.D, w.V+1, file.T, file.T/float64(n), gamma, 0)
			l.reported("corollary1."+at, fmt.Sprintf("Corollary 1, constants 1: TV(q0, Euler) beside d·e^(−T) %.4g + κdS(1−e^(−T)+γ^(−1/2)) %.4g, γ(q0) = %.4g",
				terms.Initial, terms.Discretisation, gamma), "TV", run.EulerTV, terms.Sum())
			values = append(values, terms.Sum())
		}
		for i, y := range values {
			if y > noiseFloor {
				tv.Series[i].Points = append(tv.Series[i].Points, Point{X: float64(n), Y: y})
			}
		}
	}
	l.theorem3()
	notes := []string{
		"Every number is exact up to rounding.",
		"Lines without a verdict are statements that hide constants or hold in a limit only; the numbers are put side by side.",
		"The data hold MASK: the score is not r(t) times a posterior, and Propositions 2 and 3 and Theorems 4 and 5 do not apply.",
	}
	if gamma == 0 {
		notes = append(notes, "γ(q0) = 0: Corollary 1 does not apply.")
	}
	return Report{Schema: Schema, Mode: "world", Holds: l.hold(), Lines: l, Plots: []Plot{tv}, Notes: notes}, nil
}

// law says why p is not a probability law over n states.
func law(p []float64, n int) error {
	if len(p) != n {
		return fmt.Errorf("%d entries: must have %d", len(p), n)
	}
	var sum laws.Sum
	for _, x := range p {
		if !(x >= 0) {
			return fmt.Errorf("%v is not a probability", x)
		}
		sum.Add(x)
	}
	if math.Abs(sum.Value()-1) > 1e-9 {
		return errors.New("does not sum to 1")
	}
	return nil
}
