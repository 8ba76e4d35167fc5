package report

import "github.com/dustin/go-humanize/english"

// Card is what a page says first. What is empty is left out.
type Card struct {
	// Result is what was found, in a sentence, and Points what it consists of, a line each.
	Result string
	Points []string
	// Numbers are the result's, Facts what they are of and what made them.
	Numbers, Facts []Fact
	// Command is what makes the page again.
	Command string
}

// Fact is a name with what it has.
type Fact struct{ Name, Text string }

// Carder is what [Document]'s Data and Provenance may be: each has its part of the card.
type Carder interface{ Card() Card }

// card puts the parts together.
func (d Document) card() Card {
	var out Card
	for _, of := range []any{d.Data, d.Provenance} {
		if c, ok := of.(Carder); ok {
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

// Count is how many lines have a verdict of a kind.
type Count struct {
	// Mark is the verdict's, Text what is counted.
	Mark, Text string
}

// Counts are those of lines, without what there is none of.
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
