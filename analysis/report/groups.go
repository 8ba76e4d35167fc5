package report

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// numbers returns the points of a picture as a table.
func (p Plot) numbers() Table {
	t := Table{Head: []string{"series", p.X, p.Y}, Numbers: 1}
	if p.Amounts {
		t.Head = []string{"setting", p.Y}
	}
	bars := p.some(ranged)
	if bars {
		t.Head = append(t.Head, "from", "to")
	}
	for _, s := range p.Series {
		for _, at := range s.Points {
			row := []string{s.Name, label(at.X), label(at.Y)}
			if p.Amounts {
				row = slices.Delete(row, 1, 2)
			}
			switch {
			case ranged(at):
				row = append(row, label(at.Lo), label(at.Hi))
			case bars:
				row = append(row, "", "")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// titles translates the beginnings of line names into words.
var titles = map[string]string{
	"entropy": "Entropy of the data", "nelbo": "Forms of the NELBO", "jensen": "Jensen’s inequality", "epsilon": "Entropy and NELBO",
	"proposition2": "Proposition 2", "score_entropy": "Proposition 2, on the text", "proposition3": "Proposition 3", "lemma3": "Lemma 3", "early-stopping": "Early stopping",
	"theorem1": "Theorem 1", "assumption1": "Assumption 1", "theorem2": "Theorem 2", "corollary1": "Corollary 1", "theorem4": "Theorem 4", "theorem5": "Theorem 5",
	"kl": "KL from the data", "tv": "TV from the data", "kl_q0": "KL from the data", "tv_q0": "TV from the data", "excess": "Excess over First-Hitting",
	"collision": "Collision bound", "collision_tv": "Collision bound on TV", "collision_kl": "Collision bound on KL", "certificate_tv": "Certificates of TV", "certificate_kl": "Certificates of KL",
	"share": "Dependence among tokens", "plans": "Bound by plans", "draws": "Draws", "normalisation": "Sum of probabilities", "reference_kl": "KL(q0‖P_FHS) from below", "reference_epsilon": "ε″ from below",
}

// Said returns in words the name of a sampler, optionally with its N after a blank or a dot, or
// with T or δ.
func Said(name string) string {
	name = lastNumber.ReplaceAllString(name, ".N=$1")
	return strings.NewReplacer("=paper.N=", "=paper, N = ", ".paper", ", the paper’s grid", "paper.", "the paper’s grid, ", ".N=", ", N = ", "N=", "N = ", "T=", "T = ", "delta=", "δ = ", "tau-any", "tau-leaping", ",", " ").Replace(name)
}

var lastNumber = regexp.MustCompile(` ([0-9]+)$`)

// group holds the statements whose names begin alike.
type group struct {
	Name, Title string
	Shown       []Line
	// Vacuous are the statements without a claim, Folded describes their number.
	Vacuous []Line
	Folded  string
}

// groups groups lines, in the order in which the names appear. A statement repeated by consecutive
// lines is shown once.
func groups(lines []Line) (out []group) {
	for _, l := range lines {
		name := l.Name
		if n := strings.IndexAny(name, ". "); n > 0 {
			name = name[:n]
		}
		at := slices.IndexFunc(out, func(g group) bool { return g.Name == name })
		if at < 0 {
			at = len(out)
			out = append(out, group{Name: name, Title: cmp.Or(titles[name], name)})
		}
		list := &out[at].Shown
		if vacuous(l) {
			list = &out[at].Vacuous
		}
		*list = append(*list, l)
	}
	for i := range out {
		g := &out[i]
		once(g.Shown)
		once(g.Vacuous)
		if n := len(g.Vacuous); n > 0 {
			g.Folded = english.Plural(n, "statement", "") + " without a claim here: infinite bounds, or bounds of 1 on a probability"
		}
	}
	return out
}

// once removes a statement that equals the previous line's.
func once(lines []Line) {
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i].Statement == lines[i-1].Statement {
			lines[i].Statement = ""
		}
	}
}

// vacuous reports whether a line gives no bound: only infinity, or 1 or more for a probability. A
// violated line is not vacuous.
func vacuous(l Line) bool {
	if !l.OK || math.IsNaN(l.Right.Mean) || l.Right.Bound == "lower" {
		return false
	}
	bounds := l.Right.Bound == "upper" || l.Kind.holds()
	share := l.Unit == "probability" || l.Unit == "TV"
	return bounds && math.IsInf(l.Right.Mean, 1) || share && (l.Right.Mean > 1 || bounds && l.Right.Mean > 1-1e-9)
}

// shownOutcomes is the greatest number of sequences of laws shown on the page.
const shownOutcomes = 256

// lawTable returns a table with a column for each law; more counts the sequences without a row.
func lawTable(list []Law) (t Table, more int) {
	outcomes, p, masked := LawTable(list)
	t = Table{Head: []string{"sequence"}, Numbers: 1}
	for _, l := range list {
		t.Head = append(t.Head, l.Name)
	}
	add := func(name string, p []float64) {
		row := []string{name}
		for _, x := range p {
			row = append(row, label(x))
		}
		t.Rows = append(t.Rows, row)
	}
	for i, o := range outcomes[:min(len(outcomes), shownOutcomes)] {
		add(o, p[i])
	}
	if slices.ContainsFunc(masked, func(x float64) bool { return x != 0 }) {
		add("with masks", masked)
	}
	return t, max(0, len(outcomes)-shownOutcomes)
}
