package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mdmgen/samplers"
)

// kind is what a value is made of, which decides what a config file may say.
type kind int

const (
	aText kind = iota
	whole
	number
	boolean
	duration
	manyTexts
)

// typed is the value of a flag that is read into p.
type typed[T any] struct {
	k     kind
	p     *T
	was   T
	parse func(string) (T, error)
	show  func(T) string
}

// read makes a flag whose value is read into p, what stands there being its default.
func read[T any](k kind, f Flag, p *T, parse func(string) (T, error), show func(T) string) *Flag {
	f.value = &typed[T]{k, p, *p, parse, show}
	return &f
}

func (v *typed[T]) set(text string) error {
	x, err := v.parse(text)
	if err == nil {
		*v.p = x
	}
	return err
}

func (v *typed[T]) check(text string) error {
	_, err := v.parse(text)
	return err
}

func (v *typed[T]) reset()           { *v.p = v.was }
func (v *typed[T]) String() string   { return v.show(*v.p) }
func (v *typed[T]) standard() string { return v.show(v.was) }
func (v *typed[T]) kind() kind       { return v.k }

// refusal says what is wrong with a text. It follows the flag and, unless it is alone, the
// text: "--steps 0: must be …", "--html: name a file".
type refusal struct {
	// form is what the text must be; says is said in its place.
	form, says string
	alone      bool
}

func (e *refusal) Error() string {
	if e.says != "" {
		return e.says
	}
	return "must be " + e.form
}

func must(format string, args ...any) error { return &refusal{form: fmt.Sprintf(format, args...)} }

// What numbers have in forms that are not decimal, or not whole.
const (
	oddNumber = "xX_"
	oddWhole  = oddNumber + "bBoO.eE"
)

// decimal refuses an empty text and numbers in another base, or with underscores, which
// package strconv would read: 010 is ten.
func decimal(text, odd, form string) error {
	switch {
	case text == "":
		return &refusal{form: form, says: "the value is empty", alone: true}
	case strings.ContainsAny(text, odd) && strings.ContainsAny(text[:1], "+-0123456789"):
		return &refusal{form: form, says: "write the number in decimal, as " + form}
	}
	return nil
}

// Int is a flag for a whole number in least..most; what is not given is not checked.
func Int(p *int, least, most int, f Flag) *Flag {
	return read(whole, f, p, func(text string) (int, error) {
		form := "a whole number below 2^63"
		if err := decimal(text, oddWhole, form); err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return 0, must("%s", form)
		case n < least || n > most:
			return 0, &refusal{form: fmt.Sprintf("a whole number in %d..%d", least, most), says: fmt.Sprintf("must be in %d..%d", least, most)}
		}
		return n, nil
	}, strconv.Itoa)
}

// IntOr is [Int] for a flag that may also be a word, which stands for a number of its own.
func IntOr(p *int, least, most int, word string, stands int, f Flag) *Flag {
	number := Int(p, least, most, f)
	v := number.value.(*typed[int])
	parse := v.parse
	v.parse = func(text string) (int, error) {
		if text == word {
			return stands, nil
		}
		n, err := parse(text)
		if err != nil {
			err = must("a whole number in %d..%d, or %s", least, most, word)
		}
		return n, err
	}
	v.show = func(n int) string {
		if n == stands {
			return word
		}
		return strconv.Itoa(n)
	}
	return number
}

// Seed is a flag for a seed, nil where none is given.
func Seed(p **uint64, f Flag) *Flag {
	return read(whole, f, p, func(text string) (*uint64, error) {
		form := "a whole number in 0..2^64-1"
		if err := decimal(text, oddWhole, form); err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, must("%s", form)
		}
		return &n, nil
	}, func(n *uint64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatUint(*n, 10)
	})
}

// Number is a flag for a number that ok takes; form says which those are.
func Number(p *float64, form string, ok func(float64) bool, f Flag) *Flag {
	return read(number, f, p, func(text string) (float64, error) {
		if err := decimal(text, oddNumber, "a number"); err != nil {
			return 0, err
		}
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return 0, must("a number")
		case !ok(x):
			return 0, must("%s", form)
		}
		return x, nil
	}, func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) })
}

// Confidence is the flag --confidence.
func Confidence(p *float64, category, usage string) *Flag {
	return Number(p, "between 0 and 1", func(x float64) bool { return x > 0 && x < 1 }, Flag{Name: "confidence", Category: category, Usage: usage})
}

// Duration is a flag for a time of at least least, 0 where none is given.
func Duration(p *time.Duration, least time.Duration, f Flag) *Flag {
	return read(duration, f, p, func(text string) (time.Duration, error) {
		if text == "" {
			return 0, decimal(text, "", "")
		}
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return 0, must("a time, such as 90s or 10m")
		case d < least:
			return 0, must("at least %v", least)
		}
		return d, nil
	}, time.Duration.String)
}

// Bool is a flag that is on or off.
func Bool(p *bool, f Flag) *Flag { return read(boolean, f, p, parseBool, strconv.FormatBool) }

func parseBool(text string) (bool, error) {
	if text == "" {
		return false, decimal(text, "", "true or false")
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, must("true or false")
	}
	return b, nil
}

// Text is a flag for any text.
func Text(p *string, f Flag) *Flag {
	return read(aText, f, p, func(text string) (string, error) { return text, nil }, func(s string) string { return s })
}

// Name is a flag for a text that is not empty: a file, say, as what says.
func Name(p *string, what string, f Flag) *Flag {
	return read(aText, f, p, func(text string) (string, error) {
		if text == "" {
			return "", &refusal{form: "a text that is not empty", says: what, alone: true}
		}
		return text, nil
	}, func(s string) string { return s })
}

// Words is a flag for one of some words. T is a text of its own.
func Words[T ~string](p *T, words []T, f Flag) *Flag {
	return Known(p, words, func(text T) bool { return slices.Contains(words, text) }, f)
}

// Suggested is a word that a text is like, as the end of a message.
func Suggested(text string, words []string) string {
	if near := Nearest(text, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Known is a flag for a name that known takes, as it does the words.
func Known[T ~string](p *T, words []T, known func(T) bool, f Flag) *Flag {
	f.Words = nil
	for _, w := range words {
		f.Words = append(f.Words, string(w))
	}
	return read(aText, f, p, func(text string) (T, error) {
		if !known(T(text)) {
			form := "one of " + strings.Join(f.Words, ", ")
			return "", &refusal{form: form, says: "must be " + form + Suggested(text, f.Words)}
		}
		return T(text), nil
	}, func(s T) string { return string(s) })
}

// Texts is a flag for texts, one each time that it is given.
func Texts(p *[]string, f Flag) *Flag {
	f.value = &list{p}
	return &f
}

type list struct{ p *[]string }

func (v *list) check(string) error    { return nil }
func (v *list) set(text string) error { *v.p = append(*v.p, text); return nil }
func (v *list) reset()                { *v.p = nil }
func (v *list) String() string        { return strings.Join(*v.p, ", ") }
func (v *list) standard() string      { return "" }
func (v *list) kind() kind            { return manyTexts }

// Option is the flag of a sampler's option. Its value is kept as text in p, "" where it is
// not given.
func Option(p *string, o samplers.Option, f Flag) *Flag {
	f.Name, f.Usage, f.Default, f.Words, f.form = o.Name, o.Help, o.Default, o.Words, o.Form()
	odd := ""
	if o.Whole {
		odd = oddWhole
	} else if o.Most > 0 {
		odd = oddNumber
	}
	return read(aText, f, p, func(text string) (string, error) {
		if err := decimal(text, odd, o.Form()); err != nil {
			return "", err
		}
		if o.Set(new(samplers.Options), text) != nil {
			return "", &refusal{form: o.Form(), says: "must be " + o.Form() + Suggested(text, o.Words)}
		}
		return text, nil
	}, func(s string) string { return s })
}

// Format are the flags --format and, short for one of its words, --json.
func Format[T ~string](p *T, words ...T) Set {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	*p = words[0]
	out := Set{Words(p, words, Flag{Name: "format", Category: CatOutput, Usage: "`FORMAT` of the results: " + strings.Join(list, ", ")})}
	if slices.Contains(list, "json") {
		out = append(out, &Flag{Name: "json", Category: CatOutput, Usage: "short for --format json", value: &short[T]{p, "json", words[0]}})
	}
	return out
}

// short is on where p is a word. Off, it takes back the config file's.
type short[T ~string] struct {
	p         *T
	word, was T
}

func (v *short[T]) set(text string) error {
	on, err := parseBool(text)
	if on {
		*v.p = v.word
	} else if err == nil && *v.p == v.word {
		*v.p = v.was
	}
	return err
}

func (v *short[T]) check(text string) error {
	_, err := parseBool(text)
	return err
}

func (v *short[T]) reset()           { *v.p = v.was }
func (v *short[T]) String() string   { return strconv.FormatBool(*v.p == v.word) }
func (v *short[T]) standard() string { return "" }
func (v *short[T]) kind() kind       { return boolean }
