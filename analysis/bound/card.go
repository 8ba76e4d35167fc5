package bound

import (
	"fmt"
	"strings"

	"mdmgen/analysis/report"
)

// results say by mode which line is the result, what it shows, with its left side, right side and
// gap as %s, and what these are.
var results = []struct {
	mode, line, sentence string
	left, right, gap     string
}{
	{"text", "theorem4", "On this text the NELBO is %[2]s nats a window and −log P_FHS is %[1]s: KL(q0‖P_FHS) is below its bound ε″ by %[3]s nats.", "E[−log P_FHS]", "E[NELBO]", "ε″ − KL(q0‖P_FHS)"},
	{"text", "plans", "On this text the NELBO is %[2]s nats a window: KL(q0‖P_FHS) is below its bound ε″ by at least %[3]s nats, in expectation.", "bound on E[−log P_FHS] by plans", "E[NELBO]", "ε″ − KL(q0‖P_FHS)"},
	{"chain", "theorem4", "KL(q0‖P_FHS) is %[1]s nats and its bound ε″ %[2]s, q0 being the network’s own left-to-right chain.", "KL(q0‖P_FHS)", "ε″", "ε″ − KL(q0‖P_FHS)"},
	{"own", "bracket", "The entropy of first-hitting’s own law lies between %[1]s and %[2]s nats.", "from below", "from above", "what is left open"},
	{"world", "theorem4", "KL(q0‖P_FHS) is %[1]s nats and its bound ε″ %[2]s, both exact.", "KL(q0‖P_FHS)", "ε″", "ε″ − KL(q0‖P_FHS)"},
}

// Card is what the page says first.
func (r Report) Card() (card report.Card) {
	if r.Mode == "plan" {
		return r.planCard()
	}
	if r.World != "" {
		card.Facts = []report.Fact{{Name: "world", Text: fmt.Sprintf("%.19s", r.World)}}
	}
	for _, want := range results {
		for _, l := range r.Lines {
			if want.mode != r.Mode || want.line != l.Name {
				continue
			}
			short := func(v report.Value) any { return fmt.Sprintf("%.4g", v.Mean) }
			card.Result = fmt.Sprintf(want.sentence, short(l.Left), short(l.Right), short(l.Gap))
			card.Numbers = []report.Fact{{Name: want.left, Text: l.Left.String()}, {Name: want.right, Text: l.Right.String()}, {Name: want.gap, Text: l.Gap.String()}}
			if card.Numbers = append(card.Numbers, report.Fact{Name: "verdict of " + l.Name, Text: l.Verdict}); !l.OK {
				card.Result = l.Name + " is " + l.Verdict + "."
			} else if strings.HasPrefix(l.Verdict, "not resolved") {
				card.Result += " The difference is not resolved."
			}
			return card
		}
	}
	return card
}

// planCard names the setting with the least bound.
func (r Report) planCard() report.Card {
	var best report.Line
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "collision_tv ") && (best.Name == "" || l.Right.Mean < best.Right.Mean) {
			best = l
		}
	}
	if best.Name == "" {
		return report.Card{}
	}
	_, name, _ := strings.Cut(best.Name, " ")
	card := report.Card{Result: fmt.Sprintf("Whatever the network, TV(P_FHS, P_N) is at most %.4g with %s, the least bound of these settings.", best.Right.Mean+0, name)}
	if best.Right.Mean > 1-1e-9 {
		card.Result = "No setting here has a bound below 1: nothing is known of their TV from first-hitting without a network."
	}
	return card
}
