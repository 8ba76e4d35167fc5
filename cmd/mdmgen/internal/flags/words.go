package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xrash/smetrics"

	"mdmgen/samplers/catalog"
)

// Text is a flag for any text.
func Text(p *string, f Flag) *Flag {
	return read(once, f, p, func(text string) (string, error) { return text, nil }, func(s string) string { return s })
}

// Name is a flag for a text that is not empty: a file, say, as what says. "-" names no file to write.
func Name(p *string, what string, f Flag) *Flag {
	return read(once, f, p, func(text string) (string, error) {
		if text == "" || text == "-" && f.Writes && what == "name a file" {
			return "", errors.New(what)
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
	return read(once, f, p, func(text string) (T, error) {
		if !known(T(text)) {
			return "", fmt.Errorf("must be one of %s%s", strings.Join(f.Words, ", "), Suggested(text, f.Words))
		}
		return T(text), nil
	}, func(s T) string { return string(s) })
}

// Texts is a flag for texts, one each time that it is given.
func Texts(p *[]string, f Flag) *Flag {
	more := func(text string) ([]string, error) { return append(slices.Clip(*p), text), nil }
	return read(repeated, f, p, more, func(texts []string) string { return strings.Join(texts, ", ") })
}

// Option is the flag of a sampler's option. Its value is kept as text in p, "" where it is
// not given.
func Option(p *string, o catalog.Option, f Flag) *Flag {
	f.Name, f.Words = o.Name, o.Words
	odd := ""
	if o.Whole {
		odd = oddWhole
	} else if o.Most > 0 {
		odd = oddNumber
	}
	return read(once, f, p, func(text string) (string, error) {
		if err := decimal(text, odd, o.Form()); err != nil {
			return "", err
		}
		if o.Set(new(catalog.Options), text) != nil {
			return "", fmt.Errorf("must be %s%s", o.Form(), Suggested(text, o.Words))
		}
		return text, nil
	}, func(s string) string { return s })
}

// Format is the flag --format. Where json is one of the words, --json is short for it.
func Format[T ~string](p *T, words ...T) Set {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	*p = words[0]
	f := Flag{Name: "format", Category: CatOutput, Usage: "`FORMAT`: " + strings.Join(list, ", ")}
	if slices.Contains(list, "json") {
		f.Usage = strings.Replace(f.Usage, "json", "json (also --json)", 1)
		f.Synonyms = []Synonym{{"json", "json"}}
	}
	return Set{Words(p, words, f)}
}

// near is the least likeness of a suggestion, by Jaro and Winkler, 1 being the same word.
const near = 0.84

// elsewhere has names of other programs, with _ as -, and ours of the same thing.
var elsewhere = map[string]string{
	"prompt": "prefix", "promt": "prefix", "gen-length": "length", "max-length": "length", "max-new-tokens": "length", "max-tokens": "length", "n-predict": "length",
	"num-steps": "steps", "diffusion-steps": "steps", "num-inference-steps": "steps",
	"num-samples": "n", "cfg": "guidance", "cfg-scale": "guidance", "checkpoint": "model", "ckpt": "model", "checkpoint-path": "model",
}

// Nearest is the name that means what another program calls so, else the one that is most like
// what was typed, "" where none is near.
func Nearest(typed string, names []string) string {
	if name := elsewhere[strings.ReplaceAll(typed, "_", "-")]; slices.Contains(names, name) {
		return name
	}
	best, likeness := "", near
	for _, name := range names {
		if x := smetrics.JaroWinkler(strings.ToLower(typed), strings.ToLower(name), 0.7, 4); x >= likeness {
			best, likeness = name, x
		}
	}
	return best
}
