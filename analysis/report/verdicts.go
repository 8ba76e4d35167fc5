package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// Judgement is the verdict on a line.
type Judgement struct {
	// Verdict states what the numbers show, "" for a line without a verdict.
	Verdict string `json:"verdict,omitempty"`
	// OK is false if the statement is violated.
	OK   bool `json:"ok"`
	Kind Kind `json:"-"`
}

// Kind classifies a verdict.
type Kind int

// The kinds of verdicts.
const (
	NotJudged     Kind = iota // no verdict
	HoldsExactly              // holds, with both sides exact
	HoldsOneSided             // holds by the end of an interval
	Equal                     // both sides are equal
	NotResolved               // the interval includes both
	Violated                  // does not hold
)

// holds reports whether the verdict is that an inequality holds.
func (k Kind) holds() bool { return k >= HoldsExactly && k <= HoldsOneSided }

// Judge returns a verdict of a kind: the kind's own words followed by rest.
func Judge(k Kind, rest string, args ...any) Judgement {
	return Judgement{Verdict: verdicts[k].Name + fmt.Sprintf(rest, args...), OK: k != Violated, Kind: k}
}

// verdicts holds how verdicts of each kind begin, and their meaning.
var verdicts = [...]Fact{
	NotJudged: {"", ""},
	{"holds (exact)", "every number is exact up to rounding, and right − left, D, is not below the named limit; D_i are its values on windows or sequences"},
	{"holds, one-sided", "both sides are estimates, and the interval of right − left is above 0; the probability is for all such lines of the page together"},
	{"equal within", "both sides are the same number, computed in two ways"},
	{"not resolved", "the samples are too few; the line says how many would suffice, or what they show anyway"},
	{"violated", "the numbers contradict the statement; for a theorem that is a defect of the program"},
}

// symbols explains the symbols in statements.
var symbols = []Fact{
	{"q0", "the distribution of the data"},
	{"P_FHS", "First-Hitting's distribution: one position a call, in random order, drawn from the network's rows μ"},
	{"P_N", "the distribution of the line's sampler with N steps"},
	{"KL(", "KL(a‖b), the mean of log a − log b under a, in nats: 0 for equal distributions"},
	{"TV(", "total variation of two distributions, half the sum of |a − b|: 0 for equal ones, 1 at most"},
	{"H(q0)", "the entropy of the data"},
	{"NELBO", "the mean of −log μ of the true tokens over random orders: an upper bound on −log P_FHS"},
	{"ε″", "E[NELBO] − H(q0): what the network's rows lose, the bound of Theorem 4"},
	{"p*", "the probability that no call draws two positions"},
	{"all-mask", "the canvas where everything is masked; q_t is the data, masked for a time t, and T and δ are the times at which sampling starts and ends"},
	{"L_SE", "score entropy, the loss of training; L_TV is the total error of the rates"},
}

// lineWords explains the parts of lines: symbols, values and verdicts.
func lineWords(lines []Line) (out []Fact) {
	word := func(name, text string, has func(Line) bool) {
		if slices.ContainsFunc(lines, has) {
			out = append(out, Fact{name, text})
		}
	}
	some := func(is func(Value) bool) func(Line) bool {
		return func(l Line) bool { return is(l.Left) || is(l.Right) || is(l.Gap) }
	}
	for _, s := range symbols {
		word(strings.TrimRight(s.Name, "("), s.Text, func(l Line) bool { return strings.Contains(l.Statement, s.Name) })
	}
	word("left, right", "the sides of the statement, in its order", func(Line) bool { return true })
	var percent []string
	for _, l := range lines {
		for _, v := range []Value{l.Left, l.Right, l.Gap} {
			if p := label(100 * v.Confidence); !v.Exact && v.Confidence > 0 && !slices.Contains(percent, p) {
				percent = append(percent, p)
			}
		}
	}
	word("[a, b]", fmt.Sprintf("a %s %% interval of the number before it", english.OxfordWordSeries(percent, "or")), some(func(v Value) bool { return !v.Exact && strings.Contains(v.String(), "[") }))
	word("≤, ≥", "the number is itself a bound on the named quantity", some(func(v Value) bool { return v.Bound != "" && !math.IsNaN(v.Mean) }))
	for kind, v := range verdicts[HoldsExactly:] {
		word(v.Name, v.Text, func(l Line) bool { return l.Kind == HoldsExactly+Kind(kind) })
	}
	word("no verdict", "for information: the statement hides a constant, holds in a limit only, or is not a theorem for this sampler", func(l Line) bool { return l.OK && l.Kind == NotJudged })
	return out
}
