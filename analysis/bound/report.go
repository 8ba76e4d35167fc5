// Package bound compares the two sides of the paper's statements on worlds, on
// text and on a network's own chain, and judges each statement by the numbers.
// The numbers come from packages laws, theory, likelihood and certificate.
package bound

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.bound/1"

// Report is the output of `mdmgen bound`: statements with both sides, and their numbers.
type Report struct {
	Schema string `json:"schema"`
	// Mode is world, text, chain or plan.
	Mode string `json:"mode"`
	// World is the digest "sha256:…" of a world's file.
	World string `json:"world,omitempty"`
	// Holds is false if a statement that must hold is violated.
	Holds bool `json:"holds"`
	// Head precedes the lines, "" if there is none.
	Head  string        `json:"head,omitempty"`
	Lines []report.Line `json:"lines"`
	// Laws are the laws of a world's data, of first-hitting and of the samplers that the caller
	// named.
	Laws []report.Law `json:"laws,omitempty"`
	// Plots are the series of the pictures on the HTML page.
	Plots []report.Plot `json:"plots,omitempty"`
	// Notes explain what the numbers measure and what they do not.
	Notes []string `json:"notes,omitempty"`
	// Interrupted is set if the work ended early: the report covers the work done.
	Interrupted bool `json:"interrupted,omitempty"`
}

// kinds lists for each mode the title of its page, the line that is its result, a sentence with the
// left side, right side and gap of that line as %s, and the names of these three.
var kinds = []struct {
	mode, title, line, sentence string
	left, right, gap            string
}{
	{"world", "The paper’s statements on a world", "theorem4", "KL(q0‖P_FHS) is %[1]s nats and its bound ε″ %[2]s, both exact.", "KL(q0‖P_FHS)", "ε″", "ε″ − KL(q0‖P_FHS)"},
	{"text", "The KL bound on a text", "theorem4", "On this text the NELBO is %[2]s nats a window and −log P_FHS is %[1]s: KL(q0‖P_FHS) is below its bound ε″ by %[3]s nats.", "E[−log P_FHS]", "E[NELBO]", "ε″ − KL(q0‖P_FHS)"},
	{"text", "The KL bound on a text", "plans", "On this text the NELBO is %[2]s nats a window: KL(q0‖P_FHS) is below its bound ε″ by at least %[3]s nats, in expectation.", "bound on E[−log P_FHS] by plans", "E[NELBO]", "ε″ − KL(q0‖P_FHS)"},
	{"chain", "The KL bound on the network’s own left-to-right chain", "theorem4", "KL(q0‖P_FHS) is %[1]s nats and its bound ε″ %[2]s, q0 being the network’s own left-to-right chain.", "KL(q0‖P_FHS)", "ε″", "ε″ − KL(q0‖P_FHS)"},
	{mode: "plan", title: "The collision bound of plans"},
}

// Page writes the report as a page with its provenance, which is nil or any value that marshals:
// see [report.Write]. The JSON in the page is the report with its provenance.
func (r Report) Page(w io.Writer, provenance any) error {
	d := report.Document{
		Notes: r.Notes, Plots: r.Plots, Lines: r.Lines, Laws: r.Laws, Provenance: provenance,
		Data: struct {
			Report
			Provenance any `json:"provenance,omitempty"`
		}{r, provenance},
	}
	if r.Head != "" {
		d.Notes = append([]string{r.Head}, r.Notes...)
	}
	for _, k := range kinds {
		if k.mode == r.Mode {
			d.Title = k.title
		}
	}
	if r.Interrupted {
		d.Unfinished = "Interrupted: these are partial results."
	}
	return report.Write(w, d)
}

// Card returns the head of the page.
func (r Report) Card() (card report.Card) {
	if r.Mode == "plan" {
		return r.planCard()
	}
	if r.World != "" {
		card.Facts = []report.Fact{{Name: "world", Text: fmt.Sprintf("%.19s", r.World)}}
	}
	for _, k := range kinds {
		at := slices.IndexFunc(r.Lines, func(l report.Line) bool { return l.Name == k.line })
		if k.mode != r.Mode || at < 0 {
			continue
		}
		l := r.Lines[at]
		short := func(v report.Value) any {
			if v.Exact {
				return fmt.Sprintf("%.4g", v.Mean)
			}
			return estimate.Rounded(v.Mean, v.SE)
		}
		card.Result = fmt.Sprintf(k.sentence, short(l.Left), short(l.Right), short(l.Gap))
		card.Numbers = []report.Fact{{Name: k.left, Text: l.Left.String()}, {Name: k.right, Text: l.Right.String()}, {Name: k.gap, Text: l.Gap.String()}, {Name: "verdict", Text: l.Verdict}}
		if !l.OK {
			card.Result = l.Name + " is " + l.Verdict + "."
		} else if l.Kind == report.NotResolved {
			card.Result += " The difference is not resolved."
		} else if l.Kind != report.NotJudged {
			card.Result += " The bound holds."
		}
		break
	}
	return card
}

// planCard returns the card of the setting with the least bound.
func (r Report) planCard() report.Card {
	lines := slices.DeleteFunc(slices.Clone(r.Lines), func(l report.Line) bool { return !strings.HasPrefix(l.Name, "collision_tv ") })
	if len(lines) == 0 {
		return report.Card{}
	}
	best := slices.MinFunc(lines, func(a, b report.Line) int { return cmp.Compare(a.Right.Mean, b.Right.Mean) })
	if best.Right.Mean > 1-1e-9 {
		return report.Card{Result: "No setting here has a bound below 1: without a network nothing is known about their TV from First-Hitting."}
	}
	return report.Card{Result: fmt.Sprintf("Whatever the network, TV(P_FHS, P_N) is at most %.4g with %s, the least bound of these settings.", best.Right.Mean+0, strings.TrimPrefix(best.Name, "collision_tv "))}
}
