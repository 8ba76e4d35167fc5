package kit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mdmgen/internal/suggest"
	"mdmgen/samplers"
)

// Parsed returns a flag whose value is parsed into p by parse; show is its inverse. The initial *p is
// its default.
func Parsed[T any](p *T, parse func(string) (T, error), show func(T) string, f Flag) *Flag {
	f.standard = show(*p)
	f.show = func() string { return show(*p) }
	f.set = func(text string) error {
		x, err := parse(text)
		if err == nil {
			*p = x
		}
		return err
	}
	return &f
}

// errEmpty is the error for an empty text in place of a value.
var errEmpty = errors.New("the value is empty")

// The characters of numbers that are not decimal, or not whole.
const (
	oddNumber = "xX_"
	oddWhole  = oddNumber + "bBoO.eE"
)

// decimal returns an error for an empty text, and for numbers in another base or with underscores,
// which package strconv would parse: 010 is ten.
func decimal(text, odd, form string) error {
	switch {
	case text == "":
		return errEmpty
	case strings.ContainsAny(text, odd) && strings.ContainsAny(text[:1], "+-0123456789"):
		return errors.New("write the number in decimal, as " + form)
	}
	return nil
}

// written returns parse for texts that decimal accepts, and values that ok accepts unless it is nil;
// form describes such texts, and within such values.
func written[T any](odd, form string, parse func(string) (T, error), within string, ok func(T) bool) func(string) (T, error) {
	return func(text string) (T, error) {
		err := decimal(text, odd, form)
		if err != nil {
			return *new(T), err
		}
		x, err := parse(text)
		if err != nil {
			err = errors.New("must be " + form)
		} else if ok != nil && !ok(x) {
			err = errors.New("must be " + within)
		}
		return x, err
	}
}

// Int returns a flag for a whole number in least..most. The default is not checked.
func Int(p *int, least, most int, f Flag) *Flag {
	ok := func(n int) bool { return least <= n && n <= most }
	return Parsed(p, written(oddWhole, "a whole number below 2^63", strconv.Atoi, fmt.Sprintf("in %d..%d", least, most), ok), strconv.Itoa, f)
}

// Seed returns a flag for a seed, nil if none is given.
func Seed(p **uint64, f Flag) *Flag {
	return Parsed(p, written(oddWhole, "a whole number in 0..2^64-1", func(text string) (*uint64, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		return &n, err
	}, "", nil), func(n *uint64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatUint(*n, 10)
	}, f)
}

// Number returns a flag for a number that ok accepts; form describes such numbers.
func Number(p *float64, form string, ok func(float64) bool, f Flag) *Flag {
	parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	return Parsed(p, written(oddNumber, "a number", parse, form, ok), func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }, f)
}

// Confidence returns the flag --confidence.
func Confidence(p *float64, category, usage string) *Flag {
	return Number(p, "between 0 and 1", func(x float64) bool { return x > 0 && x < 1 }, Flag{Name: "confidence", Category: category, Usage: usage})
}

// Duration returns a flag for a duration of at least least; the initial *p is its default.
func Duration(p *time.Duration, least time.Duration, f Flag) *Flag {
	ok := func(d time.Duration) bool { return d >= least }
	return Parsed(p, written("", "a time, such as 90s or 10m", time.ParseDuration, fmt.Sprintf("at least %v", least), ok), time.Duration.String, f)
}

// Bool returns a flag that is on or off.
func Bool(p *bool, f Flag) *Flag {
	f.onOrOff = true
	return Parsed(p, written("", "true or false", strconv.ParseBool, "", nil), strconv.FormatBool, f)
}

// KeepBlank returns the flag that leaves a blank before masks where it is.
func KeepBlank(p *bool) *Flag {
	return Bool(p, Flag{Name: "keep-blank", Category: CatInput, Rare: true, Usage: "leave a blank before masks where it is, though tokens begin with it"})
}

// BlankMoved tells that a blank moved into a gap.
func (s Streams) BlankMoved() {
	s.Notice("the blank before a gap went into it, as tokens begin with it; --set keep-blank leaves it")
}

// Text returns a flag for any text.
func Text(p *string, f Flag) *Flag {
	return Parsed(p, func(text string) (string, error) { return text, nil }, func(s string) string { return s }, f)
}

// Name returns a flag for a nonempty text, such as a file; what is the advice for an empty one. "-"
// is not the name of a file to write.
func Name(p *string, what string, f Flag) *Flag {
	return Parsed(p, func(text string) (string, error) {
		if text == "" || text == "-" && f.Writes && what == "name a file" {
			return "", errors.New(what)
		}
		return text, nil
	}, func(s string) string { return s }, f)
}

// Words returns a flag for one of the words. T is a string type.
func Words[T ~string](p *T, words []T, f Flag) *Flag {
	return Known(p, words, func(text T) bool { return slices.Contains(words, text) }, f)
}

// Known returns a flag for a name that known accepts, which must include the words.
func Known[T ~string](p *T, words []T, known func(T) bool, f Flag) *Flag {
	f.Words = nil
	for _, w := range words {
		f.Words = append(f.Words, string(w))
	}
	return Parsed(p, func(text string) (T, error) {
		switch {
		case known(T(text)):
		case len(f.Words) == 1:
			return "", fmt.Errorf("must be %s", f.Words[0])
		default:
			return "", fmt.Errorf("must be one of %s%s", strings.Join(f.Words, ", "), suggest.Ending(text, f.Words))
		}
		return T(text), nil
	}, func(s T) string { return string(s) }, f)
}

// Texts returns a flag for texts, which may be repeated.
func Texts(p *[]string, f Flag) *Flag {
	f.list = p
	more := func(text string) ([]string, error) { return append(slices.Clip(*p), text), nil }
	return Parsed(p, more, func(texts []string) string { return strings.Join(texts, ", ") }, f)
}

// Option returns the flag of a sampler's option, which sets the option's field.
func Option(o samplers.Option, f Flag) *Flag {
	f.Name, f.Words, f.show = o.Name, o.Words, o.Get
	odd := ""
	if o.Whole {
		odd = oddWhole
	} else if o.Most > 0 {
		odd = oddNumber
	}
	f.set = func(text string) error {
		if err := decimal(text, odd, o.Form()); err != nil {
			return err
		}
		if o.Set(text) != nil {
			return fmt.Errorf("must be %s%s", o.Form(), suggest.Ending(text, o.Words))
		}
		return nil
	}
	return &f
}

// OrText lets the flag of a number also take a text, which is then in p until the caller replaces it
// by a number; it counts as 0.
func (f *Flag) OrText(p *string) *Flag {
	set, show := f.set, f.show
	f.set = func(text string) error {
		*p = ""
		if _, err := strconv.Atoi(text); text != "" && errors.Is(err, strconv.ErrSyntax) {
			*p, text = text, "0"
		}
		return set(text)
	}
	f.show = func() string { return cmp.Or(*p, show()) }
	return f
}

// Format returns the flag --format. If json is one of the words, --json is short for it.
func Format(p *string, words ...string) Set {
	*p = words[0]
	f := Flag{Name: "format", Category: CatOutput, Usage: "write `FORMAT`: " + strings.Join(words, ", ")}
	if slices.Contains(words, "json") {
		f.Usage = strings.Replace(f.Usage, "json", "json (also --json)", 1)
		f.Synonyms = []Synonym{{"json", "json"}}
	}
	return Set{Words(p, words, f)}
}
