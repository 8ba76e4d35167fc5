package report

import "github.com/dustin/go-humanize/english"

// Card is the head of a page. Empty fields are omitted.
type Card struct {
	// Result is the finding in a sentence, and Points its parts, one per line.
	Result string
	Points []string
	// Numbers are the numbers of the result, Facts describe what was measured and how.
	Numbers, Facts []Fact
	// Command makes the page again.
	Command string
}

// Fact is a name and its text.
type Fact struct{ Name, Text string }

// CardProvider may be implemented by [Document]'s Data and Provenance, each for its part of the card.
type CardProvider interface{ Card() Card }

// card joins the parts.
func (d Document) card() Card {
	var out Card
	for _, of := range []any{d.Data, d.Provenance} {
		if c, ok := of.(CardProvider); ok {
			part := c.Card()
			out.Result += part.Result
			out.Points = append(out.Points, part.Points...)
			out.Numbers = append(out.Numbers, part.Numbers...)
			out.Facts = append(out.Facts, part.Facts...)
			out.Command += part.Command
		}
	}
	return out
}

// Count is the number of lines with a kind of verdict.
type Count struct {
	// Mark is the kind's mark, Text the number with words.
	Mark, Text string
}

// Counts returns the nonzero counts of lines.
func Counts(lines []Line) []Count {
	n := make(map[string]int)
	for _, l := range lines {
		n[mark(l)]++
	}
	var out []Count
	for _, kind := range []struct{ mark, one, many string }{
		{"violated", "is violated", "are violated"}, {"holds", "holds", "hold"}, {"open", "is not resolved", "are not resolved"}, {"none", "has no verdict", "have no verdict"},
	} {
		if k := n[kind.mark]; k > 0 {
			out = append(out, Count{kind.mark, english.Plural(k, "statement "+kind.one, "statements "+kind.many)})
		}
	}
	return out
}
