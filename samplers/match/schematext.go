package match

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// nothing is the pattern that no text matches.
const nothing = `[^\x00-\x{10FFFF}]`

// text is the pattern of a string, whose own pattern is found anywhere in it.
func (s *schema) text() (string, error) {
	if s.Pattern == nil {
		more, err := s.repeats(s.MinLength, s.MaxLength)
		return `"` + anyCharacter + more + `"`, err
	}
	if s.MinLength > 0 || s.MaxLength != nil {
		return "", fmt.Errorf("%s: pattern with a length is not taken: say the length in the pattern", s.path)
	}
	tree, err := syntax.Parse(*s.Pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("%s: pattern %.40q: %s", s.path, *s.Pattern, err.(*syntax.Error).Code)
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
			return "", fmt.Errorf("%s: pattern %.40q: %w", s.path, *s.Pattern, err)
		}
		out += "(?:" + p.String() + ")"
	}
	return out + end + `"`, nil
}

// inJSON has a pattern match the form that a text has in JSON.
func inJSON(re *syntax.Regexp) error {
	form := ""
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			form += characters(runesOf(&syntax.Inst{Op: syntax.InstRune, Rune: []rune{r}, Arg: uint32(re.Flags)}))
		}
	case syntax.OpCharClass:
		form = characters(re.Rune)
	case syntax.OpAnyChar:
		form = characters(runesOf(&syntax.Inst{Op: syntax.InstRuneAny}))
	case syntax.OpAnyCharNotNL:
		form = characters(runesOf(&syntax.Inst{Op: syntax.InstRuneAnyNotNL}))
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return fmt.Errorf("%s is taken at its beginning or its end only", re)
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

// characters is the pattern of one of some ranges of characters, in a text of JSON; control characters that have
// no short form are left out.
func characters(ranges []rune) string {
	var forms []string
	for i := 0; i < len(ranges); i += 2 {
		from, to := ranges[i], ranges[i+1]
		for _, plain := range [][2]rune{{' ', '!'}, {'#', '['}, {']', unicode.MaxRune}} {
			if lo, hi := max(from, plain[0]), min(to, plain[1]); lo <= hi {
				forms = append(forms, fmt.Sprintf(`[\x{%x}-\x{%x}]`, lo, hi))
			}
		}
		for j, r := range "\"\\\b\f\n\r\t" {
			if from <= r && r <= to {
				forms = append(forms, `\\`+[]string{`"`, `\\`, "b", "f", "n", "r", "t"}[j])
			}
		}
	}
	if forms == nil {
		return nothing
	}
	return "(?:" + strings.Join(forms, "|") + ")"
}
