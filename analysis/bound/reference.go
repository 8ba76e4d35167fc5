package bound

import (
	"fmt"

	"mdmgen/analysis/reference"
)

// Reference is a law of texts that bounds both sides of Theorem 4 from below on a text.
type Reference struct {
	// Name is its name in the report, Note another line about it.
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
func (r *Reference) lines(d *draft, logp, fhs, nelbo []float64) {
	out := d.over(r.Documents[:len(logp)])
	bound := func(name, statement string, logp, costs []float64) {
		line := out.line(name, statement, negative(logp), costs, differences(costs, negative(logp)))
		line.Gap.Bound = "lower"
	}
	bounds := func(suffix, p string, logp []float64) {
		if fhs != nil {
			bound("reference_kl"+suffix, "KL(q0‖P_FHS) ≥ E[log p − log P_FHS], p "+p, logp, fhs)
		}
		bound("reference_epsilon"+suffix, "ε″ ≥ E[NELBO + log p], p "+p, logp, nelbo)
	}
	bounds("", r.Name, logp)
	if fhs != nil {
		bounds(".mixture", fmt.Sprintf("%g·(%s) + %g·P_FHS", share, r.Name, 1-share), reference.Mix(share, logp, negative(fhs)))
	}
	documents := make(map[int]bool)
	for _, n := range out.cluster {
		documents[n] = true
	}
	note := fmt.Sprintf("The bounds from below by a reference are about the law that the text is a sample of; their intervals take its documents, %d, for independent and not its windows.", len(documents))
	if len(documents) < 2 {
		note += " One document has no standard error: give a document a line (--as lines or jsonl)."
	}
	if out.note(note); r.Note != "" {
		out.note(r.Note)
	}
}
