package chat

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexeme matches a token of a tag, as jinja2 reads it: a float, a whole number, a name, a text or a
// sign.
var lexeme = regexp.MustCompile(`^(?s:((?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?\d+|\.(?:\d+_)*\d+))|([1-9](?:_?\d)*|0)|([A-Za-z_]\w*)|('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")|(//|\*\*|[=!<>]=|[-+/*%~\[\](){}<>=.:|,]))`)

// tag matches the beginning of a tag, with its sign, and untagged a comment, or raw, the text in it and
// endraw, with the signs around these.
var (
	tag      = regexp.MustCompile(`\{[{%#][-+]?`)
	untagged = regexp.MustCompile(`^(?s:\{#[-+]?.*?([-+]?)#\}|\{%[-+]?\s*raw\s*(-?)%\}(.*?)\{%([-+]?)\s*endraw\s*([-+]?)%\})`)
)

// token is a part of a tag. kind is 0 for a float, then as in [lexeme]; text is that of the engine. A
// pair of brackets is one token, with the text of the first and what is between them.
type token struct {
	kind  int
	text  string
	inner []token
}

const (
	isFloat = iota
	isInt
	isName
	isText
	isSign
)

// is reports whether the token is a name or a sign.
func (t token) is(names ...string) bool { return t.kind != isText && slices.Contains(names, t.text) }

// translator turns a template into one that the engine prints as jinja2 prints the original.
type translator struct {
	rest  string
	out   string
	line  int
	begun bool // whether the last tag ended within a line
	parts int  // of the tag that is read
	// open are the statements whose ends are missing.
	open []block
}

// block is a statement with a body. Variables that the body of a loop sets are saved before it in
// variables with this suffix, and restored at the beginning of each round.
type block struct {
	name, suffix string
	at, body     int // where the loop and its body begin in out
	sets         []string
}

// refusal is the panic of a construct that is not supported.
type refusal struct{ error }

func refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// caught sets *err to the refusal that ends the function that defers it, if one does.
func caught(err *error) {
	if p := recover(); p != nil {
		refused, ok := p.(refusal)
		if !ok {
			panic(p)
		}
		*err = refused.error
	}
}

// translate returns the source for the engine. It applies jinja2's rules for blanks with trim_blocks
// and lstrip_blocks, hands texts over as constants, and replaces what the engine computes otherwise by
// calls of this package's functions. It returns an error that names what is not supported.
func translate(source string) (out string, err error) {
	t := &translator{rest: strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source), "\n"), line: 1}
	defer func() {
		if err != nil {
			err = fmt.Errorf("line %d: %w", t.line, err)
		}
	}()
	defer caught(&err)
	for t.rest != "" {
		at := tag.FindStringIndex(t.rest)
		if at == nil {
			t.text(t.rest, "", false)
			break
		}
		sign, kind := t.rest[at[0]+2:at[1]], t.rest[at[0]+1]
		t.text(t.rest[:at[0]], sign, kind != '{')
		t.skip(at[0])
		if m := untagged.FindStringSubmatch(t.rest); m != nil {
			if m[2] == "-" {
				m[3] = strings.TrimLeftFunc(m[3], isSpace)
			}
			t.begun = true
			t.text(m[3], m[4], true)
			t.skip(len(m[0]))
			t.trim(m[1]+m[5], true)
			continue
		}
		if kind == '#' {
			refuse("a comment does not end")
		}
		t.skip(at[1] - at[0])
		t.parts = 0
		tokens, end := t.tokens(tagEnds[kind], 0)
		sign = end[:len(end)-2]
		t.trim(sign, kind == '%')
		if kind == '{' {
			t.out += "{{ print_(" + value(tokens) + ") }}"
		} else {
			t.statement(tokens)
		}
		if len(t.open) > maxParts {
			refuse("statements are more than %d deep", maxParts)
		}
	}
	if n := len(t.open); n > 0 {
		refuse("%s does not end", t.open[n-1].name)
	}
	return t.out, nil
}

// skip leaves n bytes out.
func (t *translator) skip(n int) {
	if n > 0 {
		t.begun, t.line = t.rest[n-1] != '\n', t.line+strings.Count(t.rest[:n], "\n")
		t.rest = t.rest[n:]
	}
}

// trim leaves out what follows a tag: blanks after -, and a line break unless the tag ends with +.
func (t *translator) trim(sign string, block bool) {
	t.begun = true
	if sign == "-" {
		t.skip(len(t.rest) - len(strings.TrimLeftFunc(t.rest, isSpace)))
	} else if sign == "" && block && strings.HasPrefix(t.rest, "\n") {
		t.skip(1)
	}
}

// text writes text before a tag. A - removes the blanks before the tag; without a sign those between
// the beginning of the line and a statement or comment go, too.
func (t *translator) text(s, sign string, block bool) {
	line := strings.LastIndexByte(s, '\n') + 1
	if sign == "-" {
		s = strings.TrimRightFunc(s, isSpace)
	} else if sign == "" && block && (line > 0 || !t.begun) && strings.TrimLeftFunc(s[line:], isSpace) == "" {
		s = s[:line]
	}
	if s != "" {
		t.out += "{{ print_(" + constant(s) + ") }}"
	}
}

// tagEnds are the ends of tags, with their signs, and brackets those of brackets.
var (
	tagEnds  = map[byte][]string{'{': {"}}", "-}}"}, '%': {"%}", "-%}", "+%}"}}
	brackets = map[string][]string{"(": {")"}, "[": {"]"}, "{": {"}"}}
)

// isSpace reports whether Python takes a character for a blank.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// constant returns a text as the engine reads it.
func constant(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// tokens reads the tokens of a tag, or between brackets, up to one of the ends, which it returns.
func (t *translator) tokens(ends []string, depth int) (out []token, end string) {
	out = []token{}
	for {
		t.skip(len(t.rest) - len(strings.TrimLeftFunc(t.rest, isSpace)))
		for _, end := range ends {
			if strings.HasPrefix(t.rest, end) {
				t.skip(len(end))
				return out, end
			}
		}
		m := lexeme.FindStringSubmatch(t.rest)
		if m == nil {
			r, _ := utf8.DecodeRuneInString(t.rest)
			refuse("%q is not supported in a tag, or the tag does not end", r)
		}
		tok := token{kind: slices.IndexFunc(m[1:], func(s string) bool { return s != "" }), text: m[0]}
		if t.parts++; depth > 32 || t.parts > maxParts || tok.is(")", "]", "}") {
			refuse("a tag has more than %d parts, or brackets without a partner or more than 32 deep", maxParts)
		}
		t.skip(len(m[0]))
		switch {
		case tok.kind == isText:
			tok.text = unquoted(m[0][1 : len(m[0])-1])
			if n := len(out); n > 0 && out[n-1].kind == isText { // adjacent texts are one
				tok.text = out[n-1].text + tok.text
				out = out[:n-1]
			}
		case tok.kind < isName:
			tok.text = number(tok)
		case brackets[tok.text] != nil:
			tok.inner, _ = t.tokens(brackets[tok.text], depth+1)
		}
		out = append(out, tok)
	}
}

// decimal returns a number with a point and without an exponent.
func decimal(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// number returns a number as the engine reads it.
func number(t token) string {
	text := strings.ReplaceAll(t.text, "_", "")
	if t.kind == isFloat {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			refuse("the number %s is not supported", t.text)
		}
		text = decimal(x)
	} else if n, err := strconv.Atoi(text); err != nil || n > 1<<53 {
		refuse("the number %s is not supported", t.text)
	}
	return text
}

// escape matches an escape of a text, of the form that Go and Python have or of another.
var escape = regexp.MustCompile(`(?s)\\(?:x[[:xdigit:]]{2}|u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|[0-7]{3}|.)`)

// unquoted resolves Python's escapes of a text, which are Go's. Unknown ones stay.
func unquoted(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		r, _, _, err := strconv.UnquoteChar(e, 0)
		switch {
		case err == nil:
			return string(r)
		case strings.Contains(`'"`, e[1:]):
			return e[1:]
		case e[1:] == "\n":
			return ""
		case strings.Contains("xuUN01234567", e[1:2]):
			refuse("the escape %s is not supported", e)
		}
		return e
	})
}
