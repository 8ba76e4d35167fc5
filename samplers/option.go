package samplers

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// AboveZero is the least value of an option that must not be 0.
const AboveZero = math.SmallestNonzeroFloat64

// Option is an option of samplers, with the field of an options struct that holds its value. A room
// lists its options once, next to that struct.
type Option struct {
	// Field points to the value: a string type, an int or float64, not given if zero, or a pointer
	// to such a number, not given if nil.
	Field any
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
	// drawn, and not the law of the tokens; or only how another option is chosen.
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

// Set parses text and sets the value. A list may be any text but "", which the sampler's constructor
// checks. If text is not valid, the error says what a value must be, and the value does not change.
func (p Option) Set(text string) error {
	at := reflect.ValueOf(p.Field).Elem()
	if at.Kind() == reflect.String && (p.Lists && text != "" || slices.Contains(p.Words, text)) {
		at.SetString(text)
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if p.Whole {
		_, err = strconv.Atoi(text)
	}
	if p.Words != nil || err != nil || !(x >= p.Least && x <= p.Most) {
		shown := cmp.Or(text, "empty")
		if q := strconv.Quote(text); len(q) != len(text)+2 {
			shown = q // such as a line break: the message stays one line
		}
		return fault.Errorf("samplers", "%s is %.40s: must be %s", p.Name, shown, p.Form())
	}
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	if at.CanInt() {
		at.SetInt(int64(x))
	} else {
		at.SetFloat(x)
	}
	return nil
}

// Check returns the error of Set, and does not change the value.
func (p Option) Check(text string) error {
	p.Field = reflect.New(reflect.TypeOf(p.Field).Elem()).Interface()
	return p.Set(text)
}

// Get returns the value in the form that [Option.Set] reads; "" if it is not given.
func (p Option) Get() string {
	at := reflect.ValueOf(p.Field).Elem()
	switch {
	case at.IsZero():
		return ""
	case at.Kind() == reflect.Pointer:
		at = at.Elem()
	case at.Kind() == reflect.String:
		return at.String()
	}
	if at.CanInt() {
		return strconv.FormatInt(at.Int(), 10)
	}
	return strings.Replace(strconv.FormatFloat(at.Float(), 'g', -1, 64), "+Inf", "inf", 1)
}

// Clear makes the value not given.
func (p Option) Clear() { reflect.ValueOf(p.Field).Elem().SetZero() }
