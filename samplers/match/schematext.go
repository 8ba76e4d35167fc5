package match

import (
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// anyCharacter matches a character in a JSON string, and nothing matches no text.
const (
	anyCharacter = `(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])`
	nothing      = `[^\x00-\x{10FFFF}]`
)

// text returns the pattern of a string, whose own pattern may match anywhere in it.
func (s *schema) text() (string, error) {
	var pattern *string
	from, to := s.lengths("minLength", "maxLength")
	if s.get("pattern", &pattern); pattern == nil {
		return `"` + anyCharacter + repeats(from, to) + `"`, nil
	}
	if from > 0 || to >= 0 {
		return "", s.errorf("pattern with a length is not supported: put the length into the pattern")
	}
	tree, err := syntax.Parse(escaped.ReplaceAllStringFunc(*pattern, inGo), syntax.Perl)
	if err != nil {
		return "", s.errorf("pattern %.40q: %s", *pattern, err.(*syntax.Error).Code)
	}
	parts, begin, end := []*syntax.Regexp{tree}, anyCharacter+"*", anyCharacter+"*"
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	if parts[0].Op == syntax.OpBeginText {
		begin, parts = "", parts[1:]
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		end, parts = "", parts[:n-1]
	}
	out := `"` + begin
	for _, p := range parts {
		if err := inJSON(p); err != nil {
			return "", s.errorf("pattern %.40q: %v", *pattern, err)
		}
		out += "(?:" + p.String() + ")"
	}
	return out + end + `"`, nil
}

// escaped matches escapes of JSON Schema's patterns, which are ECMAScript's: those of characters by
// number, two for a character beyond 16 bits, which Go writes otherwise, and all others.
var escaped = regexp.MustCompile(`\\u\{[0-9A-Fa-f]+\}|\\u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|\\u(?:[0-9A-CE-Fa-ce-f][0-9A-Fa-f]|[Dd][0-7])[0-9A-Fa-f]{2}|\\.`)

// inGo returns an escape as package regexp reads it.
func inGo(escape string) string {
	switch {
	case !strings.HasPrefix(escape, `\u`) || len(escape) == 2:
		return escape
	case escape[2] == '{':
		return `\x` + escape[2:]
	}
	var character string
	_ = json.Unmarshal([]byte(`"`+escape+`"`), &character) // JSON has the same escapes.
	return fmt.Sprintf(`\x{%x}`, []rune(character)[0])
}

// inJSON makes a pattern match the JSON form of a text.
func inJSON(re *syntax.Regexp) error {
	form := ""
	switch {
	case re.Op == syntax.OpLiteral:
		for _, r := range re.Rune {
			form += characters(runesOf(&syntax.Inst{Op: syntax.InstRune, Rune: []rune{r}, Arg: uint32(re.Flags)}))
		}
	case re.Op >= syntax.OpCharClass && re.Op <= syntax.OpAnyChar:
		prog, err := syntax.Compile(re)
		if err != nil {
			return err
		}
		form = characters(runesOf(&prog.Inst[1]))
	case re.Op >= syntax.OpBeginLine && re.Op <= syntax.OpNoWordBoundary:
		return fmt.Errorf("%s is supported only at its beginning or end", re)
	default:
		for _, sub := range re.Sub {
			if err := inJSON(sub); err != nil {
				return err
			}
		}
		return nil
	}
	parsed, err := syntax.Parse(form, syntax.Perl)
	if err == nil {
		*re = *parsed
	}
	return err
}

// characters returns the pattern of one character of some ranges, in a JSON string. Control
// characters without a short form are excluded.
func characters(ranges []rune) string {
	forms := []string{nothing}
	for i := 0; i < len(ranges); i += 2 {
		from, to := ranges[i], ranges[i+1]
		for _, plain := range [][2]rune{{' ', '!'}, {'#', '['}, {']', unicode.MaxRune}} {
			if lo, hi := max(from, plain[0]), min(to, plain[1]); lo <= hi {
				forms = append(forms, fmt.Sprintf(`[\x{%x}-\x{%x}]`, lo, hi))
			}
		}
		for j, r := range "\"\\\b\f\n\r\t" {
			if from <= r && r <= to {
				forms = append(forms, `\\`+regexp.QuoteMeta(`"\bfnrt`[j:j+1]))
			}
		}
	}
	return "(?:" + strings.Join(forms, "|") + ")"
}
