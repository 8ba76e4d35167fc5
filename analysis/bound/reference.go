package bound

import (
	"fmt"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reference"
	"mdmgen/analysis/report"
)

// Reference is a law of texts that bounds both sides of Theorem 4 from below on a text.
type Reference struct {
	// Name is how the report calls it, Note what else it says of it.
	Name, Note string
	Law        reference.Reference
	// Documents has a number for each window, the same for those of one document: what an
	// interval takes for independent.
	Documents []int
}

// share is the part of the reference in its mixture with P_FHS. Half costs at most log 2
// against the better of the two at each text, and is fixed before any of them is seen.
const share = 0.5

// lines adds the bounds from below for windows with log-probabilities logp, costs −log P_FHS, nil
// where these are not known, and NELBOs.
func (r *Reference) lines(out *draft, logp, fhs, nelbo []float64, confidence float64) {
	r.add(out, "", r.Name, logp, fhs, nelbo, confidence)
	if fhs != nil {
		mixed := reference.Mix(share, logp, negative(fhs))
		r.add(out, ".mixture", fmt.Sprintf("%g·(%s) + %g·P_FHS", share, r.Name, 1-share), mixed, fhs, nelbo, confidence)
	}
	documents := make(map[int]bool)
	for _, d := range r.Documents[:len(logp)] {
		documents[d] = true
	}
	note := fmt.Sprintf("The bounds from below by a reference are about the law that the text is a sample of; their intervals take its documents, %d, for independent and not its windows.", len(documents))
	if len(documents) < 2 {
		note += " One document has no standard error: give a document a line (--as lines or jsonl)."
	}
	if out.Notes = append(out.Notes, note); r.Note != "" {
		out.Notes = append(out.Notes, r.Note)
	}
}

// add adds the lines of one law p.
func (r *Reference) add(out *draft, suffix, p string, logp, fhs, nelbo []float64, confidence float64) {
	of := func(x []float64) report.Value { return of(mean(x, r.Documents[:len(x)], confidence)) }
	line := func(name, statement string, right []float64) {
		l := report.Line{Name: name + suffix, Statement: statement + ", p " + p, Left: of(negative(logp)), Right: of(right)}
		l.Gap = of(differences(right, negative(logp)))
		l.Gap.Bound = "lower"
		out.add(l)
	}
	if fhs != nil {
		line("reference_kl", "KL(q0‖P_FHS) ≥ E[log p − log P_FHS]", fhs)
	}
	line("reference_epsilon", "ε″ ≥ E[NELBO + log p]", nelbo)
}

func negative(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = -x[i]
	}
	return out
}

// cannotFail stands at the top of every report on a text.
const cannotFail = "On a text the verdict of Theorem 4 cannot fail, whatever the network: H(q0) cancels from its gap, and −log P_FHS ≤ NELBO holds for any rows of probabilities. It checks this program. What says something of the network are the sides themselves."

// textNotes say what the windows are.
func textNotes(ts []likelihood.Target) []string {
	for _, t := range ts {
		if len(t.Free) < len(t.IDs) {
			return nil
		}
	}
	return []string{fmt.Sprintf("P_FHS of a window is the law of a canvas of its own length, here up to %d positions with no text around them, and not that of a window of a longer canvas: --context N puts windows behind N visible tokens of the text.", longest(ts))}
}

func longest(ts []likelihood.Target) int {
	n := 0
	for _, t := range ts {
		n = max(n, len(t.IDs))
	}
	return n
}
