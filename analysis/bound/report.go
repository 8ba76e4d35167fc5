// Package bound puts the two sides of the paper's statements beside each other,
// on worlds, on real text and on a network's own chain, and says what the
// numbers show. It computes nothing that packages laws, theory and likelihood
// compute; it chooses, pairs and judges.
package bound

import (
	"cmp"
	"io"

	"mdmgen/analysis/report"
)

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.bound/1"

// Report is what `mdmgen bound` prints: statements with both sides, and the
// numbers behind them.
type Report struct {
	Schema string `json:"schema"`
	// Mode is world, text, chain, own or plan.
	Mode string `json:"mode"`
	// World is "sha256:…" of a world's file.
	World string `json:"world,omitempty"`
	// Holds is false where a statement that must hold is violated.
	Holds bool `json:"holds"`
	// Head is what must be known before the lines are read, "" for nothing.
	Head  string        `json:"head,omitempty"`
	Lines []report.Line `json:"lines"`
	// Laws are the laws of a world's data, of first-hitting and of the samplers that were
	// asked for.
	Laws []report.Law `json:"laws,omitempty"`
	// Plots are series behind the pictures of the HTML page.
	Plots []report.Plot `json:"plots,omitempty"`
	// Notes say what the numbers measure, and what they do not.
	Notes []string `json:"notes,omitempty"`
	// Interrupted says that the work was ended before it was done: the report is about
	// what was done.
	Interrupted bool `json:"interrupted,omitempty"`
	// estimated are the indices of the lines whose verdicts are from estimates.
	estimated []int
}

var titles = map[string]string{
	"world": "The paper’s statements on a world",
	"text":  "The KL bound on a text",
	"chain": "The KL bound on the network’s own left-to-right chain",
	"own":   "The entropy of first-hitting’s own law",
	"plan":  "The collision bound of plans",
}

// Page writes the report as a page, with what made it: see [report.Write]. The JSON in the page is the report
// with provenance, which may be nil or anything that marshals.
func (r Report) Page(w io.Writer, provenance any) error {
	notes := r.Notes
	if r.Head != "" {
		notes = append([]string{r.Head}, notes...)
	}
	d := report.Document{
		Title: cmp.Or(titles[r.Mode], "mdmgen bound"), Notes: notes, Plots: r.Plots, Lines: r.Lines, Laws: r.Laws, Provenance: provenance,
		Data: struct {
			Report
			Provenance any `json:"provenance,omitempty"`
		}{r, provenance},
	}
	if r.Interrupted {
		d.Unfinished = "Interrupted: this is about what was done."
	}
	return report.Write(w, d)
}
