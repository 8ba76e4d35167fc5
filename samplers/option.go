package samplers

import (
	"fmt"
	"math"
	"strings"
)

// AboveZero is the least value of an option that must not be 0.
const AboveZero = math.SmallestNonzeroFloat64

// Option describes an option of samplers: its name in command lines, benchmark cases and records,
// and its values.
type Option struct {
	// Name is the name of the flag and of the key in a benchmark case. Records have _ for -.
	Name string
	// Help is one line, with the word for its value in backquotes. Default is the value in effect
	// if the option is not given.
	Help, Default string
	// Flag reports whether the option has its own flag; others, which few samplers have, are
	// written KEY=VALUE.
	Flag bool
	// Words lists the names allowed as values. Lists reports whether a value may be a list, too.
	Words []string
	Lists bool
	// Least and Most are the least and the greatest value. Both are 0 if values are words: names,
	// or lists that form one value, such as "theta:5,1,0".
	Least, Most float64
	// Whole reports whether values are whole numbers.
	Whole bool
	// Token reports whether the option belongs to [draw.Settings]: it changes how tokens are drawn,
	// for every sampler, and not which positions are revealed when.
	Token bool
	// Calls reports whether the option changes only how the network is called, or which token is
	// drawn, and not the law of the tokens.
	Calls bool
	// Unplanned reports whether the option belongs to samplers without a plan ([Law]). Unscored
	// reports whether no probability of a text can be computed under it, for instance because
	// positions are drawn again.
	Unplanned, Unscored bool
}

// Form describes the form of a value, as in "a whole number in 1..16777216".
func (p Option) Form() string {
	least := fmt.Sprintf("of at least %v", p.Least)
	if p.Least == AboveZero {
		least = "above 0"
	}
	switch {
	case p.Lists && p.Words == nil:
		return "a list"
	case p.Lists:
		return "a name or a list"
	case p.Words != nil:
		return "one of " + strings.Join(p.Words, ", ")
	case p.Whole:
		return fmt.Sprintf("a whole number in %.0f..%.0f", p.Least, p.Most)
	case math.IsInf(p.Most, 1):
		return "a number " + least + ", or inf"
	case p.Most == math.MaxFloat64:
		return "a finite number " + least
	}
	return fmt.Sprintf("a number %s and at most %v", least, p.Most)
}
